"""Credentials: each rule finds its kind and leaves its look-alikes, the refusal tells nothing, the cost is linear."""

import re
import re._parser as pattern_parser  # type: ignore[import-not-found]  # the only way to review a pattern as a tree
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.secrets import __main__ as measure
from benchmarks.secrets import corpus
from substrate.errors import Invalid
from substrate.secrets import PII, RULES, find, redact, refuse, refuse_all
from tests.text.strategies import nasty

SEED = 20260514
TOKEN = "ghp_" + "a1B2c3" * 6


def rules(text: str) -> list[str]:
    return [finding.rule for finding in find(text)]


# --- the corpus --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cases() -> list[corpus.Case]:
    return list(corpus.secrets(SEED))


@pytest.mark.requirement("S1-8")
def test_the_corpus_is_large_and_follows_from_its_seed(cases: list[corpus.Case]) -> None:
    benign = list(corpus.benign(SEED))
    assert cases == list(corpus.secrets(SEED)) != list(corpus.secrets(SEED + 1))
    assert len(cases) >= 1_000 and len({case.kind for case in cases}) >= 25
    assert len(benign) >= 1_000 and all(case.secret is None for case in benign)
    assert all(case.secret and case.secret in case.text for case in cases)


@pytest.mark.requirement("S1-8")
def test_95_of_100_secrets_are_refused_and_no_kind_falls_behind(cases: list[corpus.Case]) -> None:
    found = measure.rates(cases, measure.caught)
    assert measure.share(found) >= measure.RECALL
    assert [kind for kind, (refused, seen) in found.items() if refused < 0.8 * seen] == []


def test_at_most_one_harmless_line_of_100_is_refused() -> None:
    assert measure.share(measure.rates(corpus.benign(SEED), measure.caught)) <= measure.FALSE_ALARMS


def test_no_look_alike_that_the_product_itself_writes_is_refused() -> None:
    kinds = {"git", "uuid", "ulid", "own_id", "checkpoint", "public_key", "digest", "image"}
    assert [case.text for case in corpus.benign(SEED, 200) if case.kind in kinds and find(case.text)] == []


def test_redacted_text_holds_no_secret(cases: list[corpus.Case]) -> None:
    assert measure.left_behind(cases) == 0


def test_the_measurement_passes_with_the_rules_and_fails_without(capsys: pytest.CaptureFixture[str]) -> None:
    assert measure.main(["--seed", "7"]) == 0
    assert capsys.readouterr().out.endswith("passed\n")
    assert measure.main(["--seed", "7", "--broken", "--misses"]) == 1
    assert "failed: wanted at least 95%" in capsys.readouterr().out


# --- what is found -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "wifi password is Tr0ub4dor&3",
        "the password is 'sunshine'",
        "password: hunter2",
        "Password: 'correct-horse-battery-9'",
        "my PIN for the bank login, password 123456, is old",
        "db password was changed to s3cr3t! yesterday",
        "AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "postgres://app:hunter2@db.internal/main",
        "redis://:p4ssw0rd@10.0.0.1:6379/0",
        "Authorization: Basic YWxpY2U6aHVudGVyMg==",
        "admin / Summer2024! is the login password",
        '{"dbPass": "xK9mmQ2pL"}',
        'login("root", password="Zx81-spectrum")',
        "--token abcdef0123456789abcdef0123456789",
        "密码是Tr0ub4dor3",
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n",
        "MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQC7",
    ],
)
def test_a_credential_is_found(text: str) -> None:
    assert measure.caught(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the password is wrong",
        "reset your password to continue",
        "password policy: at least 12 characters",
        "password_file=/run/secrets/db1",
        "tokenCount=8192",
        "max_tokens: 4096",
        "nextPageToken: a1B2c3D4e5F6g7H8",
        "the password is argon2id hashed",
        "password: ${DB_PASSWORD}",
        "https://user:password@example.com",
        "http://localhost:8080/a@b",
        "password = get_password('db1')",
        "Basic understanding of 802.11",
        "Basic aGVsbG8gd29ybGQ=",
        "LS0tLS1CRUdJTiBQVUJMSUMgS0VZLS0tLS0KTUNvd0JRWURLMlZ3QXlFQUdiOUVDV21FemY2RlFicmI=",
        "ghp_" + "x" * 36,
        "Two-Pass scan: do a quick second pass",
    ],
)
def test_talk_of_credentials_is_none(text: str) -> None:
    assert find(text) == []


def test_a_finding_spans_the_secret() -> None:
    text = f"use {TOKEN} today"
    (finding,) = find(text)
    assert text[finding.start : finding.end] == TOKEN
    assert redact(text) == "use [credential] today"
    assert redact("wifi password is Tr0ub4dor&3") == "wifi password is [credential]"


def test_invisible_characters_do_not_hide_a_secret() -> None:
    hidden = "\u200b".join(TOKEN)
    text = f"é use {hidden}\u200b today"
    (finding,) = find(text)
    assert text[finding.start : finding.end] == hidden
    assert TOKEN not in redact(text).replace("\u200b", "")


def test_overlapping_findings_are_one() -> None:
    text = f"password: {TOKEN} and {TOKEN}"
    assert len(find(text)) == 2


@given(
    st.lists(st.one_of(nasty, st.sampled_from(["password is ", "x9!", TOKEN, "token=", "4111111111111111"]))).map(
        "".join
    )
)
def test_findings_are_in_order_disjoint_and_inside_the_text(text: str) -> None:
    found = [finding for finding in find(text) if finding.kind != PII]
    edges = [edge for finding in found for edge in (finding.start, finding.end)]
    assert edges == sorted(edges)
    assert all(0 <= finding.start < finding.end <= len(text) for finding in found)


# --- personal numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("card 4111 1111 1111 1111", "card"),
        ("5500-0000-0000-0004.", "card"),
        ("IBAN DE89 3704 0044 0532 0130 00", "iban"),
        ("GB82WEST12345698765432", "iban"),
        ("SSN 078-05-1120", "social-security"),
    ],
)
def test_a_personal_number_is_reported_and_refused_only_on_request(text: str, rule: str) -> None:
    assert [(finding.rule, finding.kind) for finding in find(text)] == [(rule, PII)]
    assert redact(text) == text != redact(text, kinds=[PII])
    refuse("content", text)
    with pytest.raises(Invalid) as caught:
        refuse("content", text, kinds=[PII])
    assert caught.value.details["fields"] == {"content": "pii"}


@pytest.mark.parametrize(
    "text", ["4111 1111 1111 1112", "0000000000000000", "1234567890123", "GB82WEST12345698765431", "000-12-3456"]
)
def test_a_number_with_a_wrong_check_digit_is_none(text: str) -> None:
    assert find(text) == []


# --- the refusal -------------------------------------------------------------------------------------------


@pytest.mark.requirement("S1-8")
def test_a_refusal_names_the_field_and_the_rule_and_repeats_no_secret(cases: list[corpus.Case]) -> None:
    for case in cases:
        if not measure.caught(case.text):
            continue
        with pytest.raises(Invalid) as caught:
            refuse_all({"title": "a title", "content": case.text})
        error = caught.value
        assert error.details["fields"] == {"content": "credential"}
        assert error.hint and "nothing was written" in error.message
        assert case.secret and case.secret not in str(error.as_json())


@pytest.mark.parametrize(
    "fields",
    [
        {"entity_id": TOKEN},
        {"tags": ("ok", TOKEN)},
        {"metadata": {TOKEN: 1}},
        {"metadata": {"deep": [{"er": {"value": TOKEN}}]}},
        {"metadata": {"db_password": "hunter2x"}},
        {"metadata": {"password": 48151623}},
        {"title": "Wifi password", "content": "Tr0ub4dor&3"},
    ],
    ids=["id", "tag", "key", "deep value", "named value", "number", "over two fields"],
)
def test_every_part_of_a_write_is_checked(fields: dict[str, object]) -> None:
    with pytest.raises(Invalid) as caught:
        refuse_all(fields)
    assert list(caught.value.details["fields"]) == [list(fields)[-1]]  # type: ignore[call-overload]


def test_a_field_named_by_a_secret_is_not_repeated() -> None:
    with pytest.raises(Invalid) as caught:
        refuse(TOKEN, TOKEN)
    assert TOKEN not in str(caught.value.as_json())


def test_a_harmless_write_passes() -> None:
    fields = {
        "title": "Wifi",
        "content": "Router is upstairs",
        "metadata": {"n": 1, "x": None, "t": [True, 2.5]},
        "name": None,
    }
    refuse_all(fields)
    deep: object = "end"
    for _ in range(20_000):
        deep = [deep]
    refuse_all({"metadata": deep})
    assert not find("Router is upstairs")


def test_a_key_split_over_two_memories_is_refused_in_both() -> None:
    block = next(
        case.secret for case in corpus.secrets(SEED) if case.kind == "pem" and "PGP" not in (case.secret or "")
    )
    lines = (block or "").splitlines()
    assert measure.caught("\n".join(lines[: len(lines) // 2]))
    assert measure.caught("\n".join(lines[len(lines) // 2 :]))


# --- the table ---------------------------------------------------------------------------------------------


def repeats(tree: object, depth: int = 1) -> Iterator[tuple[int, int]]:
    """Yield (most, product of the repeats around it and itself) for every repeat in a parsed pattern."""
    for name, parts in tree:  # type: ignore[attr-defined]
        if str(name) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, inner = parts
            varies = most if most != least else 1
            yield most, depth * varies
            yield from repeats(inner, depth * varies)
        elif str(name) == "BRANCH":
            for branch in parts[1]:
                yield from repeats(branch, depth)
        elif str(name) in ("SUBPATTERN", "ASSERT", "ASSERT_NOT", "ATOMIC_GROUP"):
            yield from repeats(parts if str(name) == "ATOMIC_GROUP" else parts[-1], depth)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_no_pattern_can_run_away(rule: object) -> None:
    for pattern in (rule.pattern, rule.then):  # type: ignore[attr-defined]
        if pattern is None:
            continue
        for most, product in repeats(pattern_parser.parse(pattern.pattern, pattern.flags)):
            assert most <= 8_000, "a repeat has no bound"
            assert product == most or product <= 64, "a repeat that varies stands in another"


def test_rules_have_names_of_their_own_and_hold_no_example() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z0-9-]+", rule.name) and rule.description for rule in RULES)
    assert [rule.name for rule in RULES if any(f.kind != PII for f in find(rule.description))] == []
    assert [near for rule in RULES for near in rule.near if near != near.lower()] == []


@pytest.mark.parametrize(
    "piece",
    [
        "password ",
        "password is ",
        "token=",
        "pw: a ",
        "eyJ",
        "eyJaaaaaaaaaaaa.",
        "://a:",
        "-----BEGIN PRIVATE KEY-----\n",
        "LS0tLS1CRUdJTi",
        "M-",
        "A",
        "1 ",
        "GB29 ",
        "ghp_",
        "a is the ",
        "-----END PRIVATE KEY",
        "\u200bpassword",
    ],
)
def test_64_kib_of_beginnings_are_judged(piece: str) -> None:
    text = piece * (65_536 // len(piece.encode()))
    assert all(finding.end <= len(text) for finding in find(text))
