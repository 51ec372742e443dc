"""Times and ids are text that sorts by when it was made."""

import re
import threading

from hypothesis import given
from hypothesis import strategies as st

from audit.event import is_time
from substrate.store.ids import IdMaker, encode_id, system_clock


def test_the_clock_gives_the_logs_form_of_time_and_goes_forward():
    times = [system_clock() for _ in range(50)]
    assert all(is_time(time) for time in times)
    assert times == sorted(times)


def test_ids_carry_their_prefix_and_sort_in_the_order_they_were_made_also_across_threads():
    maker = IdMaker()
    made: list[list[str]] = [[] for _ in range(4)]

    def make(mine: list[str]) -> None:
        mine.extend(maker("mem") for _ in range(500))

    threads = [threading.Thread(target=make, args=(mine,)) for mine in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(mine == sorted(mine) for mine in made)
    everything = [id for mine in made for id in mine]
    assert len(set(everything)) == 2_000
    assert all(re.fullmatch(r"mem-[0-9a-hjkmnp-tv-z]{26}", id) for id in everything)


@given(st.integers(0, 2**130 - 1), st.integers(0, 2**130 - 1))
def test_numbers_written_as_ids_sort_as_numbers_do(one: int, other: int):
    assert (encode_id(one) < encode_id(other)) == (one < other)
    assert len(encode_id(one)) == 26
