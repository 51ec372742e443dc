"""Reading takes work in proportion to what is read, counted; the benchmark that times it can fail."""

from dataclasses import replace
from itertools import cycle

import pytest

from benchmarks import scaling
from benchmarks.scaling import PIECES, Growth, Row
from tests.counting import calls

ROWS = {row.name: row for row in scaling.rows()}
COUNTED = 5.0  # a count has no noise: in proportion it is 4


def counted(row: Row, shape: str, n: int) -> Growth:
    return scaling.grown(replace(row, n=n), shape, calls)


@pytest.mark.parametrize("name", [name for name in ROWS if name in scaling.READERS])
def test_four_times_the_text_takes_no_sixteen_times_the_calls(name: str):
    found = [counted(ROWS[name], piece, 500) for piece in PIECES]
    assert [growth for growth in found if growth.ratio > COUNTED] == []


@pytest.mark.parametrize("name", ["sources", "checks", "among"])
def test_four_times_as_many_take_no_sixteen_times_the_calls(name: str):
    assert counted(ROWS[name], "", 25).ratio <= COUNTED


def test_the_broken_build_takes_the_square():
    broken = next(row for row in scaling.rows(broken=True) if row.name == "clean")
    growth = counted(broken, "a", 4_000)
    assert growth.ratio > scaling.LIMIT > COUNTED
    assert "times as long" in next(scaling.missed(broken, growth))


@pytest.mark.parametrize(
    ("costs", "told"),
    [
        ((0.1, 0.2, 0.4), ""),
        ((0.1, 0.4, 1.6), "missed: clean: four times as many characters take 16.0 times as long, at most 10\n"),
        ((1.0, 2.0, 4.0), "missed: clean: 65,536 characters take 4.0 s, at most 3\n"),
        ((0.001, 0.004, 0.016), ""),
    ],
)
def test_the_report_tells_each_limit_that_is_passed(
    costs: tuple[float, ...], told: str, capsys: pytest.CaptureFixture[str]
):
    given = cycle(costs)
    assert scaling.main(["--only", "clean"], lambda work: next(given)) == bool(told)
    out = capsys.readouterr().out
    assert f"{1000 * costs[2]:.1f} ms" in out
    assert out.endswith(told or "\n") and ("missed" in out) == bool(told)


def test_the_worst_shape_is_the_one_shown():
    quick, grows, noise = Growth("a", (0.1, 0.2, 0.4)), Growth("b", (0.1, 0.2, 0.5)), Growth("c", (0.0, 0.0, 0.01))
    assert max((noise, grows, quick), key=scaling.weight) is grows
    assert max((noise, Growth("d", (0.001, 0.001, 0.001))), key=scaling.weight) is noise


def test_the_least_of_the_readings_counts():
    clock = iter([0.0, 5.0, 10.0, 12.0, 20.0, 29.0])
    assert scaling.seconds(lambda: None, 3, lambda: next(clock)) == 2.0
