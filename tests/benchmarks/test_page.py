"""The page of benchmarks is the one its results give, and so are its pictures."""

import re
from pathlib import Path

import pytest

from benchmarks import kept, page


def test_the_page_is_the_one_its_results_give():
    assert page.PAGE.read_text("utf-8") == page.text()


@pytest.mark.parametrize("name", page.DRAWINGS)
def test_a_picture_is_drawn_from_the_results_that_are_kept(name: str):
    found = page.read(page.DRAWINGS[name][0])
    assert found is not None
    picture = (page.PICTURES / f"{name}.svg").read_text("utf-8")
    assert page.DRAWN + page.digest(found) in picture


def test_the_same_results_give_the_same_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(page, "PICTURES", tmp_path)
    stem, draw = page.DRAWINGS["operations"]
    found = page.read(stem)
    assert found is not None
    drawn = []
    for _ in range(2):
        page.drawn("operations", found, draw)
        drawn.append((tmp_path / "operations.svg").read_bytes())
    assert drawn[0] == drawn[1] and b"remember" in drawn[0]


def test_other_results_give_another_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    here = (kept.FOLDER / "operations.json").read_text("utf-8")
    (tmp_path / "operations.json").write_text(re.sub(r'"p50_ms": [0-9.]+', '"p50_ms": 77.7', here), "utf-8")
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    assert "77.7 / " in page.text() and page.text() != page.PAGE.read_text("utf-8")


@pytest.mark.parametrize("place", sorted(kept.FOLDER.glob("*.json")), ids=lambda place: place.stem)
def test_what_is_kept_says_how_to_measure_it_again_and_is_on_the_page(place: Path):
    found = page.read(place.stem)
    assert found is not None and place.stem in page.SECTIONS
    assert {"command", "date", "machine", "version"} <= found.keys()
    assert found["command"].startswith("python -m benchmarks.") and "dirty" not in found["version"]
    assert page.ran(found) in page.text() and " /" not in found["command"] and "=/" not in found["command"]
