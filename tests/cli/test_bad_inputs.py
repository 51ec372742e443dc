"""Bad input is refused with a hint and leaves nothing behind; what merely looks bad is stored as it is."""

import pytest

from tests.cli.conftest import Cast
from tests.cli.terminal import Terminal

HUGE = str(2**63)
TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
INVALID = [
    *(["list", "--limit", value] for value in ("0", "-1", "1001", HUGE)),
    *(["list", "--offset", value] for value in ("-1", HUGE)),
    *(["list", "--limit", value] for value in ("1e9", "ten", "")),
    *(["recall", "x", "--max", value] for value in ("0", "-1", "101", HUGE)),
    *(["recall", "x", "--chars", value] for value in ("0", "-5", HUGE)),
    *(["recall", query] for query in ("", " ", "\u200b", "x" * 4001)),
    *(["graph", "moved", "--depth", value] for value in ("0", "-1", "11")),
    *(["paths", "moved", "moved", "--depth", value] for value in ("0", "99")),
    *(["audit", "log", "--after", value] for value in ("-1", HUGE)),
    *(["remember", text] for text in ("", " \n", "\u200b", "a\x00b", "x" * 65_537)),
    *(["remember", "x", "--title", title] for title in ("a\nb", "x" * 301, "\u202e")),
    *(["remember", "x", "--name", name] for name in ("../../etc/passwd", "Two Words", "index", "a/b", "é")),
    *(["remember", "x", "--tag", tag] for tag in ("Red", "a b", "x" * 33, "")),
    ["remember", "x", *(f"--tag=t{number}" for number in range(6))],
    ["remember", "x", "--type", "rumour"],
    *(["remember", "x", "--valid-from", time] for time in ("yesterday", "2026-02-30", "2026-13-01", "24:00", "")),
    ["remember", "x", "--valid-from", "2026-02-02", "--valid-until", "2026-01-01"],
    *(["remember", "x", "-n", path] for path in ("a/../b", "a//b", "A", "a/", "*", "", "/a", "a b", "ä")),
    *(["persona", entity] for entity in ("", "  ", "a\nb", "x" * 129, "\u200b", "раypal")),
    *(["entity", "add", entity] for entity in ("", "a\tb", "x" * 129)),
    *(["who", "add", "agent", handle] for handle in ("Scout", "owner", "agt-x", "a b", "")),
    ["who", "add", "robot", "r2"],
    ["who", "key", "scout", "xyz"],
    ["space", "policy", "global", "colour", "1"],
    ["space", "policy", "global", "language", "3"],
    ["space", "access", "global", "maybe"],
    ["space", "add", "projects/ann"],
    ["reflect", "", "A thought.", "--from", "moved"],
    ["reflect", "t", "A thought.", "--from", "moved", "-e", "a\x1bb"],
    ["retire", "moved", ""],
    ["remember", f"The token is {TOKEN}"],
    ["remember", "x", "--title", TOKEN],
    ["remember", "x", "--metadata", f'{{"{TOKEN}": 1}}'],
    ["remember", "The wifi password is Tr0ub4dor&3"],
    ["reflect", "t", "A thought.", "--from", "moved", "-e", TOKEN],
    ["entity", "add", TOKEN],
]


def test_bad_input_is_invalid_and_leaves_nothing_behind(shell: Terminal):
    before = shell.ok("status")["events"]
    for line in INVALID:
        done = shell("--json", *line)
        assert (done.code, done.out) == (2, ""), (line, done)
        assert done.error["code"] == "invalid", line
        assert done.error["message"] and done.error["details"]["hint"], line
        assert TOKEN not in done.err
    assert shell.ok("status")["events"] == before


@pytest.mark.parametrize(
    "text",
    [
        *("$(id) `id` ; rm -rf ~", "%252e%252e%252f", "=HYPERLINK(1)", "'; DROP TABLE memories; --", "%_\\"),
        *("COPY memories TO '/tmp/x'", "read_text('/etc/passwd')", "3f786850e387550fdab836ed7e6dc881de23001b"),
        *("550e8400-e29b-41d4-a716-446655440000", "x" * 65_536, "a\r\nb\tc", "4111 1111 1111 1111"),
    ],
    ids=lambda text: ascii(text)[:30],
)
def test_what_only_looks_bad_is_stored_as_it_is(text: str, shell: Terminal):
    row = shell.ok("remember", text, "--namespace", "team/odd")
    assert shell.ok("get", row["id"])["content"] == text
    assert shell("recall", text[:4000], "--namespace", "team/odd").code == 0
    assert [found["id"] for found in shell.ok("list", "--namespace", "team/odd")["items"]] == [row["id"]]


def test_look_alikes_of_an_id_lead_to_one_entity_or_none(shell: Terminal, cast: Cast):
    for spelling in ("MARA", " Mara ", "ｍａｒａ"):
        assert shell.ok("persona", spelling)["persona"]["id"] == cast.persona
    shell.ok("reflect", "Café", "René likes the café.", "--from", "moved", "-e", "rene\u0301")
    assert shell.ok("entity", "show", "ren\u00e9")["reflections"] == 1
    assert shell.fails("persona", "mаra", code=2)["details"]["fields"] == {"entity_id": "mixed_scripts"}
