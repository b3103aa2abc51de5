"""Tradewind: the communication of weather and climate models, verified, run, measured and simulated."""
