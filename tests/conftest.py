"""Settings shared by all tests."""

from hypothesis import settings

# The first example of a test may compile a kernel, which takes seconds; and a run must not pass or
# fail by the luck of its draw.
settings.register_profile("robustsparse", deadline=None, derandomize=True)
settings.load_profile("robustsparse")
