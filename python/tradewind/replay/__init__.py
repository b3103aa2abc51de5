"""Recorded traces on other machines: replayed packet by packet, and checked for messages that have to be buffered."""
