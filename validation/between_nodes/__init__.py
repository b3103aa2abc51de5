"""Published measurements between nodes, predicted before they are looked at."""
