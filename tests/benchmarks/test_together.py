"""Two processes at once find what the other wrote by the next call, and what does not is found out."""

import argparse

from benchmarks.together import Done, missed, run


def done(seconds: float, broken: str | None = None) -> list[Done]:
    return run(argparse.Namespace(seconds=seconds, idle=0.2, seed=1, broken=broken))


def test_each_finds_what_the_other_wrote_by_the_next_call():
    found = done(2)
    assert all(one.writes and one.questions for one in found)
    assert [(one.missing, one.errors) for one in found] == [([], []), ([], [])]


def test_an_index_that_does_not_follow_is_found_out():
    assert any("did not find" in text for text in missed(done(2, "blind")))


def test_each_thing_that_must_not_be_is_named():
    sound = Done(writes=[0.1], questions=[0.1])
    assert list(missed([sound, sound])) == []
    wrong = Done(writes=[0.1], questions=[], missing=["w"], errors=["Unavailable: held"], idle=0.3)
    assert [text.partition(" ")[2].partition(" ")[2][:12] for text in missed([wrong])] == [
        "was never to",
        "did not find",
        "met 1 errors",
        "uses 30.00% ",
    ]
