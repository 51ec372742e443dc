"""Whatever call a process dies at, the next round finds what it left, and no file says more than the rows do."""

import hashlib
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from curator import actions, export
from substrate.store.model import MemoryRow
from substrate.texts import projections
from tests.curator.export_crash import opened as reopened
from tests.curator.views import PERSONAS, ask, files
from tests.curator.workshop import FACTS, opened

ROOT = Path(__file__).resolve().parents[2]
SECRET = "Ada hides her savings behind the swell box."


def left_by(step: str, template: Path, folder: Path, stride: int = 1) -> list[Path]:
    """Run a step to its end, dying so many calls later each time; answer what is left, the whole run last."""
    folder.mkdir()
    command = [
        sys.executable,
        str(ROOT / "tests/curator/export_crash.py"),
        step,
        str(template),
        str(folder),
        str(stride),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return sorted(folder.iterdir())


def settled(root: Path) -> dict[str, bytes]:
    """Make up for a crash; answer the files, after seeing that each stands in the table with its hash, and no more."""
    with closing(reopened(root)) as memory:
        assert export.catch_up(memory).problems == ()
        found = files(root / "home")
        known = {view.path: view.sha256 for view in projections.recorded(memory.db)}
        assert known == {path: hashlib.sha256(data).hexdigest() for path, data in found.items()}
        assert export.catch_up(memory) == export.Exported()
    return found


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose persona file shows an older version than the row, one that cites what will be forgotten."""
    folder = tmp_path_factory.mktemp("crashes") / "template"
    folder.mkdir()
    with opened(folder) as shop:
        ask(shop, PERSONAS)
        for fact in FACTS[:2]:
            shop.reflect(fact)
        secret = shop.reflect(SECRET)
        assert SECRET in (shop.generate().row.content or "")
        shop.retire(secret)
        ask(shop, PERSONAS, value=False)
        assert SECRET not in (shop.generate().row.content or "")
        ask(shop)
        (folder / "forget").write_text(secret.id)
    assert len(files(folder / "home")) == 1
    return folder


def test_a_round_that_dies_leaves_whole_files_that_the_next_round_or_forgetting_sees_to(template: Path, tmp_path: Path):
    before = files(template / "home")["personas/global/ada.md"]
    roots = left_by("catch_up", template, tmp_path / "runs", stride=3)
    after = files(roots[-1] / "home")
    assert len(roots) > 15 and len(after) == 3
    for number, root in enumerate(roots):
        whole = {path: data for path, data in files(root / "home").items() if not path.endswith(".new")}
        assert whole.items() <= after.items() | {("personas/global/ada.md", before)}
        if number % 2:
            assert settled(root) == after
            continue
        with closing(reopened(root)) as memory:
            assert actions.forget(memory, id=(root / "forget").read_text(), cascade=True)["files_left"] == []
        assert not any(SECRET.encode() in data for data in files(root / "home").values())
        assert len(settled(root)) == 3


def test_a_forgetting_that_dies_is_made_up_for(template: Path, tmp_path: Path):
    roots = left_by("forget", template, tmp_path / "runs", stride=2)
    assert len(roots) > 5
    for root in roots:
        with closing(reopened(root)) as memory, memory.read() as r:
            gone = r.require(MemoryRow, (root / "forget").read_text()).status == "deleted"
        found = settled(root)
        assert not gone or not any(SECRET.encode() in data for data in found.values())
        assert len(found) == 3
    assert not any(SECRET.encode() in data for data in files(roots[-1] / "home").values())
