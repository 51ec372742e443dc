"""The command `persona`: Markdown by default, and what it says where there is none."""

import json
import re
from typing import Any

import pytest

from tests.cli.conftest import Cast
from tests.cli.terminal import Terminal
from tests.servers.ollama import ollama


@pytest.mark.requirement("S3-37")
def test_a_persona_is_printed_as_markdown(shell: Terminal, cast: Cast):
    done = shell("persona", "mara")
    persona = shell.ok("persona", "mara")["persona"]
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(persona["body_md"])
    assert done.out.splitlines()[0] == "# Mara"
    assert f"[^1]: {persona['sources'][0]}" in done.out
    assert "by the extractive curator" in done.out.splitlines()[-1]


@pytest.mark.requirement("S3-37")
def test_a_persona_is_sought_in_global_unless_told_otherwise(shell: Terminal, cast: Cast):
    seen = shell.ok("remember", "Mara chairs the tides team.", "--namespace", "team/tides")
    place = ("--namespace", "team/tides")
    shell.ok("reflect", "Chair", "Mara chairs the tides team.", "--from", seen["id"], "-e", "mara", *place)
    shell.ok("persona", "mara", "--regenerate", *place)
    there, here = shell.ok("persona", "mara", *place)["persona"], shell.ok("persona", "mara")["persona"]
    assert (there["namespace"], here["namespace"]) == ("team/tides", "global")
    assert here["id"] == cast.persona
    assert "chairs" in there["body_md"] and "chairs" not in here["body_md"]


@pytest.mark.requirement("S3-39")
def test_without_a_persona_json_is_null_and_the_message_names_the_command(shell: Terminal):
    done = shell("persona", "nobody", "--json")
    assert done.code == 4
    assert done.out == '{"persona": null}\n'
    assert done.error["code"] == "not_found"
    assert done.error["details"]["hint"] == "make one: ai-memory persona nobody --regenerate"
    shell.ok("space", "add", "team/alpha")
    told = shell("persona", "nobody", "--namespace", "team/alpha")
    assert (told.code, told.out) == (4, "")
    assert "hint: make one: ai-memory persona nobody --namespace team/alpha --regenerate" in told.err


@pytest.mark.requirement("S3-39")
def test_the_command_that_is_named_can_be_pasted(shell: Terminal):
    hint = shell("persona", "the O'Briens; rm -rf ~").err.splitlines()[1]
    assert hint == """hint: make one: ai-memory persona 'the O'"'"'Briens; rm -rf ~' --regenerate"""


@pytest.mark.requirement("S3-21")
def test_regenerate_writes_the_next_version_by_the_shared_function(shell: Terminal, cast: Cast):
    shell.ok("reflect", "Sea", "Mara swims in the sea.", "--from", cast.moved, "-e", "mara")
    done = shell("persona", "mara", "--regenerate")
    assert done.code == 0
    assert "Mara swims in the sea." in done.out
    assert done.err.startswith("written by the built-in extractive curator: ") and done.err.count("\n") == 1
    persona = shell.ok("persona", "mara")["persona"]
    assert (persona["version"], persona["envelope"]["parent"]) == (2, cast.persona)
    event = shell.ok("audit", "log", "--subject", persona["id"])["events"][0]
    assert (event["type"], event["payload"]["outcome"]) == ("persona_generated", "generated")
    assert shell.ok("persona", "mara", "--regenerate", "--full")["persona"]["version"] == 3


@pytest.mark.requirement("S3-16")
def test_a_version_that_would_say_the_same_is_not_written(shell: Terminal, cast: Cast):
    for _ in range(2):
        error = shell.fails("persona", "mara", "--regenerate", code=3)
        assert error["message"] == "nothing is new about 'Mara' since version 1"
        assert "--full" in error["details"]["hint"]
    assert shell.ok("persona", "mara")["persona"]["id"] == cast.persona
    log = shell.ok("audit", "log", "--subject", "mara", "--limit", "50")["events"]
    assert [event["type"] for event in log].count("persona_failed") == 2
    shell.ok("retire", cast.tuesdays, "no longer")
    assert shell.ok("persona", "mara", "--regenerate")["persona"]["version"] == 2, "what it says is no longer the same"


def test_an_entity_without_reflections_is_refused_and_told_how_to_bind(shell: Terminal):
    error = shell.fails("persona", "maria", "--regenerate", code=3)
    assert (error["code"], error["details"]["reason"]) == ("refused", "no_reflections")
    assert "mara" in error["message"] and "mara" in error["details"]["nearest"]
    assert "ai-memory reflect TITLE TEXT --from ID --entity" in error["details"]["hint"]
    assert shell.ok("list", "--kind", "persona", "--all")["total"] == 1


def test_a_retired_persona_is_served_no_more_and_no_older_one_in_its_place(shell: Terminal, cast: Cast):
    second = shell.ok("persona", "mara", "--regenerate", "--full")["persona"]["id"]
    shell.ok("retire", second, "wrong")
    assert shell("persona", "mara").code == 4
    assert shell.ok("persona", "mara", "--version", "1")["persona"]["id"] == cast.persona


def test_a_stale_persona_says_so_on_top(shell: Terminal, cast: Cast):
    shell.ok("retire", cast.home, "moved on")
    assert shell("persona", "mara").out.startswith("> Stale: ")
    assert shell.ok("persona", "mara")["persona"]["stale"] is True
    checked = shell("persona", "mara", "--verify")
    assert checked.code == 0 and "holds" in checked.out and "stale" in checked.out
    assert shell.ok("persona", "mara", "--verify")["stale"] is True


def test_why_quotes_each_memory_under_its_author(shell: Terminal, cast: Cast):
    footnote = shell.ok("persona", "mara")["persona"]["sources"].index(cast.tuesdays) + 1
    lines = shell("persona", "mara", "--why", str(footnote)).out.splitlines()
    assert lines[0] == f"[^{footnote}] Mara sings in a choir on Tuesdays."
    assert lines[1].startswith(f"  reflection {cast.tuesdays}, scout, ")
    assert lines[2] == "  > Mara sings in a choir on Tuesdays."
    assert lines[3].startswith(f"    observation {cast.choir}, ann, ")
    assert lines[4] == "    > Tuesdays are for the choir; no meetings then."


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--why", "9"], "no footnote 9"),
        (["--why", "0"], "no footnote 0"),
        (["--history", "--diff"], "one at a time"),
        (["--why", "1", "--regenerate"], "one at a time"),
        (["--full"], "--regenerate"),
        (["--model", "extractive"], "--regenerate"),
        (["--pin", "1", "--unpin", "1"], "one at a time"),
        (["--claims", "--history"], "one at a time"),
        (["--version", "1", "--as-of", "2026-05-14"], "one at a time"),
        (["--as-of", "yesterday"], "'yesterday' is not a date"),
        (["--pin", "9"], "no claim '9'"),
        (["--before", "1"], "--diff"),
    ],
)
def test_options_that_make_no_sense_are_invalid(options: list[str], says: str, shell: Terminal):
    error = shell.fails("persona", "mara", *options, code=2)
    assert error["code"] == "invalid"
    assert says in error["message"]


def test_a_version_that_never_was_and_a_comparison_with_nothing_are_told(shell: Terminal):
    assert shell.fails("persona", "mara", "--version", "7", code=4)["code"] == "not_found"
    assert "one version only" in shell.fails("persona", "mara", "--diff", code=3)["message"]
    assert shell.fails("persona", "nobody", "--why", "1", code=4)["code"] == "not_found"


def test_a_claim_is_listed_pinned_kept_and_let_go(shell: Terminal):
    listed = shell("persona", "mara", "--claims").out.splitlines()
    claims = shell.ok("persona", "mara")["persona"]["claims"]
    assert [line.split()[:2] for line in listed] == [[str(n), claim["id"]] for n, claim in enumerate(claims, 1)]
    done = shell("persona", "mara", "--pin", "2")
    assert (done.code, done.out) == (0, f"{claims[1]['id']}  pinned  {claims[1]['text']}\n")
    assert "  pinned  " in shell("persona", "mara", "--claims").out.splitlines()[1]
    again = shell.ok("persona", "mara", "--regenerate", "--full")["persona"]["claims"]
    assert [(claim["id"], claim["text"]) for claim in again if claim["pinned"]] == [
        (claims[1]["id"], claims[1]["text"])
    ]
    assert shell.ok("persona", "mara", "--unpin", claims[1]["id"])["pinned"] is False
    assert not any(claim["pinned"] for claim in shell.ok("persona", "mara")["persona"]["claims"])
    assert shell.fails("persona", "nobody", "--pin", "1", code=4)["code"] == "not_found"


def test_a_persona_is_read_as_of_a_date(shell: Terminal, cast: Cast):
    first = shell.ok("persona", "mara")["persona"]
    second = shell.ok("persona", "mara", "--regenerate", "--full")["persona"]
    made = second["generated_at"]
    assert shell.ok("persona", "mara", "--as-of", made)["persona"]["id"] == second["id"]
    assert shell.ok("persona", "mara", "--as-of", made[:10])["persona"]["id"] == second["id"]
    assert shell.ok("persona", "mara", "--as-of", first["generated_at"])["persona"]["id"] == cast.persona
    early = shell.fails("persona", "mara", "--as-of", "2020-01-01", code=4)
    assert first["generated_at"] in early["message"] and "--history" in early["details"]["hint"]
    assert "never one" in shell.fails("persona", "nobody", "--as-of", "2020-01-01", code=4)["message"]


@pytest.mark.requirement("S3-1")
def test_a_model_writes_where_one_is_named_and_the_command_says_what_it_cost(
    shell: Terminal, monkeypatch: pytest.MonkeyPatch
):
    def say(request: dict[str, Any]) -> dict[str, Any]:
        data = request["messages"][-1]["content"].removeprefix("<data>\n").removesuffix("\n</data>")
        items = [element for element in json.loads(data) if "item" in element]
        return {"claims": [{"text": one["text"], "sources": [one["item"]], "replaces": None} for one in items]}

    with ollama(say) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        done = shell("persona", "mara", "--regenerate", "--full", "--model", "ollama/tiny")
        persona = shell.ok("persona", "mara")["persona"]
    assert re.fullmatch(r"written by ollama/tiny: [12] calls?, [\d,]+ tokens, \d+\.\d s\n", done.err), done.err
    assert persona["model"] == persona["envelope"]["model"] == "ollama/tiny"
    assert ", by ollama/tiny, attestation" in done.out.splitlines()[-1]
    assert shell.ok("persona", "mara", "--verify")["ok"]


def test_a_model_that_fails_ends_with_2_and_the_persona_before_is_still_served(
    shell: Terminal, cast: Cast, monkeypatch: pytest.MonkeyPatch
):
    with ollama("no JSON") as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        error = shell.fails("persona", "mara", "--regenerate", "--full", "--model", "ollama/tiny", code=2)
    assert (error["code"], error["details"]["reason"]) == ("no_model", "not_json") and error["details"]["hint"]
    assert shell.ok("persona", "mara")["persona"]["id"] == cast.persona
    events = shell.ok("audit", "log", "--subject", "mara")["events"]
    assert [event["payload"]["reason"] for event in events if event["type"] == "persona_failed"] == ["not_json"]
