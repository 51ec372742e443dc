"""Settings of the tests of the log."""

from hypothesis import settings

# a busy machine is no finding
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
