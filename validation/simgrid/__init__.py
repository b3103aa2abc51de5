"""The flow model of SimGrid beside the packet model: the same network, the same routes, the same messages."""
