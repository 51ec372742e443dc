"""Every attempt leaves one row, without a word of what was said; a day has its bound; little is tried again."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from curator.jobs import later
from curator.llm.answers import completed
from curator.llm.calls import Usage, ask, usage
from curator.llm.model import Completion, Message, Model, tokens
from curator.llm.openai import OpenAI
from curator.llm.scripted import Scripted
from substrate.config import Models
from substrate.errors import NoModel
from tests.curator.workshop import Workshop, opened
from tests.servers import ollama as servers

ASKED = [Message("system", "You are careful."), Message("user", "Ada moved to Bergen.")]
SCHEMA = {"type": "object", "properties": {"fact": {"type": "string"}}, "required": ["fact"]}
MODELS = Models()


def failing(reason: str, **details: Any) -> NoModel:
    return NoModel("it complains of Bergen", reason=reason, **details)


def rows(shop: Workshop) -> list[tuple[Any, ...]]:
    with shop.memory.read() as r:
        return r.query("SELECT status, error, purpose, model FROM model_calls ORDER BY id")


def asked(shop: Workshop, model: Model, models: Models = MODELS, waits: list[float] | None = None) -> Completion:
    waited = waits if waits is not None else []
    return ask(shop.memory.db, model, ASKED, schema=SCHEMA, purpose="persona", models=models, pause=waited.append)


def test_a_call_leaves_one_row_with_its_size_its_tokens_and_its_cost(shop: Workshop):
    model = Scripted([{"fact": "She lives there."}])
    answer = asked(shop, model, Models(input_price=1_000, output_price=500))
    assert answer.data == {"fact": "She lives there."}
    with shop.memory.read() as r:
        [row] = r.query(
            "SELECT purpose, model, status, error, day, input_chars, output_chars, input_tokens, output_tokens, "
            "cost_microusd, latency_ms >= 0, agent_id FROM model_calls"
        )
    given, said = sum(tokens(message.content) for message in ASKED), tokens(answer.text)
    sizes = (36, len(answer.text), given, said, -(-(1_000 * given + 500 * said) // 1_000))
    assert row == ("persona", "scripted/model", "ok", None, "2026-05-14", *sizes, True, None)
    assert model.asked[0].messages == tuple(ASKED)


@pytest.mark.parametrize(
    ("answer", "row"),
    [
        ("no json", ("invalid", "not_json")),
        ({"fact": 3}, ("invalid", "wrong_schema")),
        (failing("too_large"), ("invalid", "too_large")),
        (failing("timeout"), ("timeout", "timeout")),
        (failing("missing"), ("error", "missing")),
        (failing("status", status=401), ("error", "status")),
    ],
)
def test_a_call_that_fails_leaves_its_row_and_is_not_tried_again(shop: Workshop, answer: Any, row: tuple[str, str]):
    waits: list[float] = []
    with pytest.raises(NoModel) as caught:
        asked(shop, Scripted([answer]), waits=waits)
    assert caught.value.details["reason"] == row[1]
    assert [found[:2] for found in rows(shop)] == [row]
    assert waits == []


class Boasting(Model):
    """A model that reports tokens nobody could have used."""

    name = "scripted/boasting"

    def complete(self, messages: Sequence[Message], **options: Any) -> Completion:
        return Completion("so", {"fact": "so"}, 10**30, -1)


def test_counts_that_can_be_none_are_not_believed(shop: Workshop):
    assert asked(shop, Boasting(), Models(input_price=10**9)).data == {"fact": "so"}
    with shop.memory.read() as r:
        assert usage(r, "2026-05-14") == Usage(1, 0, 0, 0, 0)


def test_nothing_of_what_was_said_is_kept(shop: Workshop):
    with pytest.raises(NoModel):
        asked(shop, Scripted([failing("missing")]))
    with pytest.raises(NoModel):
        asked(shop, Scripted(["Bergen, says the model"]))
    assert "Bergen" not in shop.columns()


@pytest.mark.parametrize(
    "details", [{"reason": "unreachable"}, {"reason": "reset"}, {"reason": "status", "status": 503}]
)
def test_what_may_pass_in_a_moment_is_tried_again_after_longer_and_longer_waits(
    shop: Workshop, details: dict[str, Any]
):
    waits: list[float] = []
    model = Scripted([failing(**details), failing(**details), {"fact": "so"}])
    assert asked(shop, model, waits=waits).data == {"fact": "so"}
    assert waits == [0.5, 1.0]
    assert [row[0] for row in rows(shop)] == ["error", "error", "ok"]
    assert model.asked[0].timeout_s >= model.asked[2].timeout_s > 0


def test_three_attempts_are_the_most(shop: Workshop):
    with pytest.raises(NoModel, match="complains"):
        asked(shop, Scripted([failing("reset")] * 4))
    assert len(rows(shop)) == 3


def test_no_further_attempt_is_made_when_the_time_is_used_up(shop: Workshop):
    with pytest.raises(NoModel):
        asked(shop, Scripted([failing("reset")] * 4), Models(timeout_s=0.4))
    assert len(rows(shop)) == 1


@pytest.mark.requirement("S0-55")
def test_a_day_has_its_number_of_calls_and_the_next_day_as_many(shop: Workshop):
    model = Scripted(lambda messages: {"fact": "so"})
    models = Models(calls_per_day=2)
    for _ in range(2):
        asked(shop, model, models)
    with pytest.raises(NoModel, match="2 model calls were made on 2026-05-14") as caught:
        asked(shop, model, models)
    assert caught.value.details["reason"] == "limit"
    assert len(model.asked) == len(rows(shop)) == 2
    shop.clock.advance(days=1)
    assert asked(shop, model, models).data == {"fact": "so"}
    with pytest.raises(NoModel):
        asked(shop, model, Models(calls_per_day=0))


@pytest.mark.requirement("S0-55")
def test_many_at_once_keep_the_bound_of_the_day_together(shop: Workshop):
    def once(_: int) -> bool:
        try:
            return asked(shop, Scripted([{"fact": "so"}]), Models(calls_per_day=5)).data is not None
        except NoModel as error:
            return error.details["reason"] != "limit"

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(once, range(12))) == 5
    assert [row[0] for row in rows(shop)] == ["ok"] * 5


def test_a_text_that_fills_the_model_is_not_sent(shop: Workshop):
    model = Scripted([{"fact": "so"}], context_tokens=9)
    with pytest.raises(NoModel, match="about 9 tokens") as caught:
        asked(shop, model)
    assert caught.value.details["reason"] == "context"
    assert (model.asked, rows(shop)) == ([], [])


def test_no_model_is_asked_while_the_store_is_held(shop: Workshop):
    db, model = shop.memory.db, Scripted([{"fact": "so"}])
    with db.read():
        with pytest.raises(RuntimeError, match="held"):
            asked(shop, model)
    with pytest.raises(RuntimeError, match="held"):
        with db.write(shop.memory.caller.id):
            asked(shop, model)
    assert not db.held
    assert (model.asked, rows(shop)) == ([], [])


class Nested(Model):
    """A model that looks at the store while it is asked."""

    name = "scripted/nested"

    def __init__(self, shop: Workshop) -> None:
        self.shop = shop

    def complete(self, messages: Sequence[Message], **options: Any) -> Completion:
        assert not self.shop.memory.db.held
        self.seen = rows(self.shop)
        raise KeyboardInterrupt


def test_a_run_that_is_killed_during_a_call_leaves_its_row(shop: Workshop):
    model = Nested(shop)
    with pytest.raises(KeyboardInterrupt):
        asked(shop, model)
    assert model.seen == rows(shop) == [("error", "unfinished", "persona", "scripted/nested")]
    with shop.memory.read() as r:
        (begun,) = (at for (at,) in r.query("SELECT created_at FROM model_calls"))
        running, ended = (usage(r, begun[:10], since=later(begun, seconds)) for seconds in (-1, 1))
    assert (running.failed, running.running) == (0, 1), "its time is not up yet"
    assert (ended.failed, ended.running) == (1, 0)


def test_a_day_is_summed_up_by_purpose(shop: Workshop):
    db, model = shop.memory.db, Scripted(lambda messages: {"fact": "so"})
    asked(shop, model, Models(input_price=1_000_000))
    ask(db, model, ASKED, purpose="reflect", agent_id="agt-x", session_id="ses-y", models=MODELS)
    with pytest.raises(NoModel):
        asked(shop, Scripted(["none"]))
    with shop.memory.read() as r:
        day, persona, other = (
            usage(r, *which) for which in (("2026-05-14",), ("2026-05-14", "persona"), ("2026-05-15",))
        )
    assert (day.calls, day.failed) == (3, 1)
    assert (persona.calls, persona.failed, persona.cost_microusd) == (2, 1, 9_000)
    assert (other.calls, other.input_tokens, other.cost_microusd) == (0, 0, 0)


@pytest.mark.parametrize(("text", "count"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é" * 4, 2), ("\ud800", 1)])
def test_tokens_are_a_quarter_of_the_bytes_rounded_up(text: str, count: int):
    assert tokens(text) == count


def test_a_script_that_is_used_up_says_so():
    with pytest.raises(RuntimeError, match="asked 1 times"):
        Scripted([]).complete(ASKED)


def test_the_rows_of_calls_survive_a_reopening(tmp_path: Path):
    with opened(tmp_path) as shop:
        asked(shop, Scripted([{"fact": "so"}]))
    with opened(tmp_path) as again:
        assert len(rows(again)) == 1


def test_a_request_in_another_form_is_a_call_of_its_own(shop: Workshop):
    with servers.openai({"fact": "so"}, schemas=False) as server:
        assert asked(shop, OpenAI("gpt", url=server.url + "/v1")).data == {"fact": "so"}
        assert len(server.requests) == len(rows(shop)) == 2


@pytest.mark.parametrize("told", [-7, 10**4299, True, "many"])
def test_a_count_of_tokens_that_can_be_none_is_not_believed(told: Any):
    answer = completed("Yes.", None, input_tokens=told, output_tokens=told)
    assert (answer.input_tokens, answer.output_tokens) == (None, None)
