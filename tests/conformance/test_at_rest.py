"""The public suite's nine edits of storage are refused when read, whoever makes them and whichever door is asked."""

import json
from pathlib import Path

import pytest
from agmi import check
from agmi.attacks.at_rest import (
    CrossContextReplayAttack,
    ForgeAttack,
    MetadataTamperAttack,
    SnapshotRollbackAttack,
    TamperAttack,
    TruncateAttack,
)

from benchmarks.campaigns import _wrong
from tests.cli.terminal import Terminal
from tests.conformance.at_rest import OURS, RowsAndLog, RowsOnly


class AtTheCommandLine(RowsAndLog):
    """Asked by a command; its error says `integrity` and its answer is empty, or nothing was noticed."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self._patch = patch

    def verify(self) -> bool:
        self._patch.setenv("AI_MEMORY_HOME", str(self.store.home))
        self._patch.setenv("AI_MEMORY_STATE", str(self.store.state))
        done = Terminal(self.store.home, self.store.state)(
            "--json", "recall", "where is the ferry", "--namespace", OURS
        )
        if done.code:
            assert (done.error["code"], done.out) == ("integrity", "")
        return done.code == 0


@pytest.mark.requirement("S3-15")
@pytest.mark.parametrize("writer", ["RowsOnly", "RowsAndLog"])
def test_all_nine_edits_are_refused_when_read(writer: str, tmp_path: Path):
    kept = tmp_path / "row.json"
    assert check.main(["--adapter", f"tests.conformance.at_rest:{writer}", "--json", str(kept)]) == 0
    assert [edit["verdict"] for edit in json.loads(kept.read_text())["edits"]] == ["REJECTED"] * 9


def test_all_nine_edits_are_refused_at_the_command_line(monkeypatch: pytest.MonkeyPatch):
    assert [row["verdict"] for row in check.run(AtTheCommandLine(monkeypatch))] == ["REJECTED"] * 9


LANDINGS = {
    "rows": (RowsOnly, [TamperAttack, ForgeAttack, MetadataTamperAttack]),
    "anchor": (RowsAndLog, [TruncateAttack, SnapshotRollbackAttack]),
    "signatures": (RowsAndLog, [TamperAttack, CrossContextReplayAttack]),
}


@pytest.mark.parametrize("broken", LANDINGS)
def test_a_build_without_one_of_the_checks_lets_edits_through(broken: str):
    """Each check carries a part of the verdicts, and the adapter can see an edit land."""
    writer, attacks = LANDINGS[broken]
    with _wrong.build(broken):
        assert [attack().run(writer()).status for attack in attacks] == ["VULNERABLE"] * len(attacks)
