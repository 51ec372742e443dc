"""What a caller can put into an idempotency key, or into a request that carries one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from substrate import Memory
from substrate.actions.registry import call
from substrate.errors import Invalid


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    opened = Memory.open(tmp_path / "home", state_dir=tmp_path / "state")
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "key", ["", " ", "\u200b", "a\nb", "\x1b[2J", "x" * 600, "\ud800", "AKIA" + "IOSFODNN7QXRTZWK"]
)
def test_a_key_that_is_no_line_of_text_or_holds_a_credential_is_refused(memory: Memory, key: str):
    with memory.read() as r:
        before = r.head.sequence
    with pytest.raises(Invalid):
        call(memory, "remember", {"text": "The ferry leaves at nine.", "idempotency_key": key})
    with memory.read() as r:
        assert r.head.sequence == before


@pytest.mark.parametrize(
    "given", [{"metadata": {"a": float("nan")}}, {"metadata": {"a": "\ud800"}}, {"namespace": "\ud800"}]
)
def test_a_request_that_no_row_could_hold_is_bad_input_with_a_key_too(memory: Memory, given: dict[str, Any]):
    with pytest.raises(Invalid):
        call(memory, "remember", {"text": "The ferry leaves at nine.", "idempotency_key": "k", **given})
