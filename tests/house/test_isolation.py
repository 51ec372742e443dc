"""The suite leaves no trace on the machine that runs it, and takes none from it."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.clock import Clock, Ids


def test_a_test_sees_an_empty_home_and_no_settings_of_the_developer():
    assert list(Path.home().iterdir()) == []
    assert {name: text for name, text in os.environ.items() if name.startswith("AI_MEMORY_")} == {
        "AI_MEMORY_WORKER": "off"
    }


def test_time_stands_still_until_a_test_moves_it(clock: Clock):
    assert clock() == clock() == "2026-05-14T09:30:00.000000Z"
    assert clock.advance(days=17, microseconds=5) == "2026-05-31T09:30:00.000005Z"


@given(st.integers(1, 5000))
def test_ids_of_any_prefix_sort_in_the_order_of_their_creation(count: int):
    ids = Ids()
    suffixes = [ids(prefix)[-26:] for prefix in ["mem", "req"] * count]
    assert suffixes == sorted(set(suffixes))
