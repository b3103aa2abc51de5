"""The cases that a study names, the folder that keeps their results, and the records read back from it."""
