"""The two verifiers of a log say the same of it, whatever was done to it; one that leaves a check out is found out."""

from collections import Counter

import pytest

from tests.audit.broken_verifiers import BROKEN, broken
from tests.audit.spoiled import Verdict, judged, spoiled
from tests.audit.spoilers import ATTESTED, CHANGES

SEED, COUNT = 1, 600
Log = tuple[str, list[bytes], Verdict]


@pytest.fixture(scope="module")
def logs() -> list[Log]:
    """Spoil logs, and ask both verifiers as they are."""
    return [(what, lines, judged(lines)) for what, lines in spoiled(SEED, COUNT)]


@pytest.mark.requirement("S3-15")
def test_the_verifiers_agree_on_every_spoiled_log(logs: list[Log]):
    assert [(what, verdict) for what, _, verdict in logs if not verdict.agree] == []
    accepted = sum(verdict.ok for _, _, verdict in logs)
    assert COUNT // 10 < accepted < COUNT // 2
    done = Counter(change for what, _, _ in logs for change in what.split(" + "))
    assert {change.__name__ for change in (*CHANGES, *ATTESTED)} | {"nothing", "mend", "flip"} == done.keys()


def test_every_step_of_a_verification_had_something_to_find(logs: list[Log]):
    kinds = {fault.partition(":")[0] for _, _, verdict in logs for fault in verdict.faults}
    assert kinds == {
        *("sequence", "body", "chain", "store", "key", "signature", "rotation", "state", "checkpoint", "anchor"),
        *("attestation", "export"),
    }


@pytest.mark.parametrize("name", BROKEN)
def test_a_verifier_without_one_of_its_checks_is_found_out(name: str, logs: list[Log]):
    rejected = sorted((log for log in logs if not log[2].ok), key=lambda log: len(log[2].faults))
    with broken(name):
        found = next((what for what, lines, _ in rejected if not judged(lines).agree), None)
    assert found is not None, BROKEN[name][0]


def test_the_same_seed_spoils_the_same_way():
    assert list(spoiled(7, 20)) == list(spoiled(7, 20)) != list(spoiled(8, 20))
