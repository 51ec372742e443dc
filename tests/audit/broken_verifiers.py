"""Verifiers that leave out one check each: what a comparison of the two has to notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from audit import attestation, independent, keys, verify
from audit.anchor import Anchor
from audit.event import Event

Replacement = tuple[Any, str, Callable[..., Any]]


def _nothing(*_: Any) -> None:
    return None


def _numbered(walk: verify._Walk, sequence: int) -> bool:
    walk.expected = sequence + 1
    return False


def _any_store(walk: verify._Walk, event: Event) -> None:
    walk.stores.append(event.store_id)


def _believed(store_id: str, epoch: int, previous: str | None, payload: Mapping[str, Any]) -> str | None:
    public = payload.get("public_key")
    return public if keys.is_public(public) else None


def _unsigned(walk: verify._Walk) -> None:
    walk.waiting.clear()


def _anchored(walk: verify._Walk, anchor: Anchor, store_id: str, genesis_key: str | None) -> bool:
    return True


def _named(event: Event) -> tuple[str, str] | None:
    said = event.payload[attestation.FIELD]
    return (said["by"], said["public_key"]) if isinstance(said, dict) and {"by", "public_key"} <= said.keys() else None


def _nobody(*_: Any) -> set[str]:
    return set()


def _without(words: str) -> Callable[[object, str], None]:
    need = independent.need

    def lenient(condition: object, reason: str) -> None:
        if words not in reason:
            need(condition, reason)

    return lenient


BROKEN: Mapping[str, tuple[str, Replacement]] = {
    "numbers": ("events missing and moved are not noticed", (verify._Walk, "_check_number", _numbered)),
    "chain": ("the hash of the event before is not compared", (verify._Walk, "_check_chain", _nothing)),
    "stores": ("events of another store are accepted", (verify._Walk, "_check_store", _any_store)),
    "signatures": ("no event's signature is verified", (verify._Walk, "check_signatures", _unsigned)),
    "rotations": ("a new key need not countersign", (verify.keys, "rotated", _believed)),
    "states": ("state roots are not computed", (verify._Walk, "_check_state", _nothing)),
    "checkpoints": ("checkpoints are not compared", (verify._Walk, "check_checkpoint", _nothing)),
    "anchors": ("the anchor is not compared", (verify._Walk, "check_anchor", _anchored)),
    "attestations": ("nobody's signature is asked for", (verify._Walk, "_check_attestation", _nothing)),
    "witnesses": ("whoever is named has vouched", (attestation, "attester", _named)),
    "seals": ("a sealed key is as any other", (attestation, "deciders", _nobody)),
    "other-chain": ("the second verifier does not compare hashes", (independent, "need", _without("does not follow"))),
    "other-signatures": ("the second verifies no signature", (independent, "need", _without("signature is bad"))),
    "other-numbers": ("the second does not count", (independent, "need", _without("numbering"))),
    "other-rotations": ("the second believes every new key", (independent, "need", _without("did not sign"))),
    "other-keys": ("the second does not compare key ids", (independent, "need", _without("names another key"))),
    "other-witnesses": ("the second verifies no attestation", (independent, "need", _without("attestation is bad"))),
    "other-holders": ("to the second every key is everybody's", (independent, "need", _without("is not theirs"))),
    "other-seals": ("to the second a sealed key is as any other", (independent, "need", _without("without it"))),
}
"""Each by its name: what is wrong with it, and what is put in whose place."""


@contextmanager
def broken(name: str | None) -> Iterator[None]:
    """Work with a broken verifier while this lasts; with None, with those that are there."""
    if name is None:
        yield
        return
    owner, attribute, other = BROKEN[name][1]
    genuine = getattr(owner, attribute)
    setattr(owner, attribute, other)
    try:
        yield
    finally:
        setattr(owner, attribute, genuine)
