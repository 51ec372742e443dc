"""A workshop in which Ines Duarte, called the organ builder, and Bob are registered."""

import pytest

from substrate.memory import entities
from tests.curator.workshop import Workshop


@pytest.fixture
def town(shop: Workshop) -> Workshop:
    caller = shop.memory.caller
    with shop.memory.write() as tx:
        entities.add(tx, caller, "ines", name="Ines Duarte", kind="person")
        entities.alias(tx, caller, "The organ builder", "ines")
        entities.add(tx, caller, "bob", name="Bob", kind="person")
    return shop
