"""Holds the simulator against truths that it does not share code with; ``make validation`` runs all of it."""
