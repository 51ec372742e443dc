"""Folders that are exchanged, full, read-only or contended: the rows stand, nothing outside is touched."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from curator import export
from substrate.memory import forgetting
from substrate.texts import folders
from tests.curator.views import PERSONAS, ask, files, recorded, taken_apart
from tests.curator.workshop import FACTS, Workshop

ROOT = Path(__file__).resolve().parents[2]
SMALL = """
import json, logging, sys
from contextlib import closing
from pathlib import Path
from curator import export
from curator.persona.persona import generate
from tests.curator.export_crash import opened
root, mode = Path(sys.argv[1]), sys.argv[2]
views = root / "home" / "personas"
said = []
class Kept(logging.Handler):
    def emit(self, record):
        said.append(record.getMessage())
logging.getLogger("curator.export").addHandler(Kept())
with closing(opened(root)) as memory:
    if mode == "full":
        with open(views / "ballast", "wb", buffering=0) as ballast:
            try:
                while ballast.write(bytes(4096)):
                    pass
            except OSError:
                pass
    row = generate(memory.db, memory.caller, "Ada").row
    left = sorted(path.name for path in views.rglob("*") if path.is_file())
    again = export.catch_up(memory)
    print(json.dumps({"version": row.persona_version, "left": left, "said": said,
                      "again": [error.code for error in again.problems],
                      "hints": all(error.hint for error in again.problems)}))
"""


def swap_before(call: str, act: Any) -> None:
    """Do something, once, right before the first such call from the module that writes files."""

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call" and argument.__name__ == call and frame.f_code.co_filename == folders.__file__:
            sys.setprofile(None)
            act()

    sys.setprofile(watch)


@pytest.mark.parametrize("call", ["fchmod", "link", "rename", "unlink"])
def test_a_folder_exchanged_for_a_link_while_a_file_is_written_leads_nowhere(ada: Workshop, tmp_path: Path, call: str):
    outside, place = tmp_path / "outside", ada.memory.db.home / "personas" / "global"
    outside.mkdir()
    (outside / "ada.md").write_text("theirs\n")
    ask(ada, PERSONAS)
    if call == "rename":
        ada.generate()

    def exchange() -> None:
        place.rename(tmp_path / "moved")
        place.symlink_to(outside, target_is_directory=True)

    swap_before(call, exchange)
    try:
        row = ada.generate().row
    finally:
        sys.setprofile(None)
    assert place.is_symlink(), "the control: it was exchanged"
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"ada.md": "theirs\n"}
    assert list((tmp_path / "moved").iterdir()) == []
    served = ada.persona()
    assert served is not None and served.row == row
    assert {error.code for error in export.catch_up(ada.memory).problems} == {"integrity"}
    place.unlink()
    assert export.catch_up(ada.memory) == export.Exported(written=1)
    assert taken_apart(files(ada.memory.db.home)["personas/global/ada.md"])[1] == row.content


def test_what_is_to_be_removed_is_not_looked_for_behind_a_link(ada: Workshop, tmp_path: Path):
    ask(ada)
    gone = ada.reflect("Ada hides her savings.")
    export.catch_up(ada.memory)
    place, name = ada.memory.db.home / "reflections" / "global", f"{gone.id}.md"
    place.rename(tmp_path / "moved")
    place.symlink_to(tmp_path / "moved", target_is_directory=True)
    with ada.memory.write() as tx:
        forgetting.forget(tx, ada.memory.caller, gone.id)
    (problem,) = {error.message for error in export.catch_up(ada.memory).problems}
    assert str(place) in problem
    assert (tmp_path / "moved" / name).exists() and any(name in path for path, *_ in recorded(ada)), "and remembered"


@pytest.mark.parametrize("mode", ["full", "read-only"])
def test_a_generation_stands_on_a_disk_that_takes_no_file(ada: Workshop, tmp_path: Path, mode: str):
    ask(ada, PERSONAS)
    home = ada.memory.db.home
    (home / "personas").mkdir(mode=0o700)
    ada.memory.close()
    option = "size=16k,mode=700" + (",ro" if mode == "read-only" else "")
    script = f'mount -t tmpfs -o {option} tmpfs "$1" || exit 77; shift; exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", script, "sh", str(home / "personas")]
    command += [sys.executable, "-c", SMALL, str(home.parent), mode]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("needs unshare and mount")
    if done.returncode in (1, 77) and not done.stdout and "Traceback" not in done.stderr:
        pytest.skip(f"needs the right to mount: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["version"] == 1 and found["left"] == (["ballast"] if mode == "full" else [])
    assert found["again"] == ["unavailable"] and found["hints"]
    assert found["said"][0].startswith("files of memories: ") and len(found["said"]) == 2
    assert export.catch_up(ada.memory) == export.Exported(written=1), "once there is space"


def test_rounds_at_the_same_time_end_as_one_would(ada: Workshop):
    ask(ada)
    ada.generate()
    problems: list[Any] = []
    rounds = [threading.Thread(target=lambda: problems.extend(export.catch_up(ada.memory).problems)) for _ in range(4)]
    for one in rounds:
        one.start()
    for one in rounds:
        one.join()
    assert problems == [] and len(files(ada.memory.db.home)) == len(FACTS) + 1 == len(recorded(ada))


def test_neither_locale_nor_encoding_changes_a_byte(ada: Workshop, tmp_path: Path):
    ask(ada)
    ada.reflect("Ada lê à noite em İstanbul, 中文 e ß.", title="Ler à noite")
    ada.generate()
    export.catch_up(ada.memory)
    before = files(ada.memory.db.home)
    with ada.memory.write() as tx:
        tx.derived("DELETE FROM projections")
    for path in before:
        (ada.memory.db.home / path).unlink()
    ada.memory.close()
    program = "import sys; from pathlib import Path; from curator import export; from tests.curator.export_crash import"
    program += " opened; assert export.catch_up(opened(Path(sys.argv[1]))).problems == ()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], env=environment, check=True)
    assert files(ada.memory.db.home) == before
