"""From a recorded trace to the patterns of its messages, and to a program file that has them on any number of ranks."""
