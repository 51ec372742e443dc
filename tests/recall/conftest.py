"""The store that the memory tests use, and an encoder that needs no weights."""

import pytest

from tests.memory.conftest import house, made  # noqa: F401
from tests.recall.encoder import WordVectors


@pytest.fixture
def encoder() -> WordVectors:
    return WordVectors()
