"""Settings of all tests."""

from hypothesis import settings

# No deadline: a busy machine is not an error.
settings.register_profile("tradewind", deadline=None)
settings.load_profile("tradewind")
