"""One workshop a test, on a real file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.curator.workshop import FACTS, Workshop, opened


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with opened(tmp_path) as workshop:
        yield workshop


@pytest.fixture
def ada(shop: Workshop) -> Workshop:
    """A workshop in which six things are known about Ada."""
    for fact in FACTS:
        shop.reflect(fact)
    return shop
