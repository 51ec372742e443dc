"""Distilling is measured on data of the same shape, is found faithful, and is not where sources are shuffled."""

from pathlib import Path

import pytest

from benchmarks import distil
from substrate.recall import embedding
from tests.benchmarks import made_up

possible, why_not = embedding.available()
pytestmark = pytest.mark.skipif(not possible, reason=str(why_not))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return made_up.write(tmp_path)


def test_observations_alone_make_faithful_reflections_and_personas(data: Path, capsys: pytest.CaptureFixture[str]):
    assert distil.main(["--data", str(data), "--only", "locomo", "--person", "Ida"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("talk-1 Ida"))
    assert line.split()[2:5] == ["2", "2", "2"]


def test_shuffled_sources_are_found(data: Path):
    assert distil.main(["--data", str(data), "--only", "locomo", "--person", "Ida", "--broken"]) == 1


def test_without_the_data_it_says_so_and_ends_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert distil.main(["--data", str(tmp_path)]) == 0
    assert "skipped" in capsys.readouterr().err
