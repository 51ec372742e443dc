"""Seal a human's key with a passphrase, so that nobody decides in their name who cannot say it.

The log has it that the key is sealed; from then on both verifiers ask for the key's signature under every decision.
Source: docs/spec/audit.md §3.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from audit import sealing
from audit.attestation import locked
from audit.keys import key_id
from substrate.errors import Forbidden
from substrate.home import Memory, key_path
from substrate.scopes import credentials, paths
from substrate.store.model import CredentialRow, PrincipalRow
from substrate.store.transaction import Transaction


def seal(memory: Memory, passphrase: str, *, ops: int = sealing.OPS, mem: int = sealing.MEM) -> None:
    """Seal the caller's key, or seal it anew with another passphrase; ``ops`` and ``mem`` are Argon2id's.

    First the log says so, then the file changes: a crash between them leaves a key that signs decisions and lies bare.
    Raises Forbidden for anybody but a human with its key open, Invalid for a weak passphrase.
    """
    sealing.check(passphrase)
    path = _path(memory)
    with memory.write(attest=True) as tx:
        if not tx.sealed(memory.caller.id):
            _known(tx, memory)
            _record(tx, memory, sealed=True)
    if memory.witness is not None:
        sealing.seal(path, memory.witness.key, passphrase, ops=ops, mem=mem)


def unseal(memory: Memory) -> None:
    """Let the caller's key lie bare again. Raises Forbidden for anybody but a human with its key open."""
    path = _path(memory)
    with memory.write(attest=True) as tx:
        if tx.sealed(memory.caller.id):
            _record(tx, memory, sealed=False)
    if memory.witness is not None:
        sealing.unseal(path, memory.witness.key)


def _path(memory: Memory) -> Path:
    if memory.caller.kind != "human":
        raise Forbidden("only a human's key is sealed", hint="act as yourself", reason="humans_only")
    if memory.witness is None:
        raise locked(memory.caller.id)
    return key_path(memory.db.home, memory.caller.id)


def _record(tx: Transaction, memory: Memory, *, sealed: bool) -> None:
    id, scope = memory.caller.id, paths.scope_of("human", memory.caller.id)
    row = tx.require(PrincipalRow, id)
    kept = {name: value for name, value in (row.settings or {}).items() if name != "sealed"}
    tx.put(replace(row, settings=kept | {"sealed": True} if sealed else kept or None))
    payload = {"principal_id": id, "namespace": scope, "sealed": sealed}
    tx.event("policy_changed", subject=id, namespace=scope, payload=payload)


def _known(tx: Transaction, memory: Memory) -> None:
    """See that the log names the key by its id, as it has to be known by; it did not always name first keys so."""
    public = memory.witness.key.public if memory.witness else ""
    row = credentials.of_key(tx, memory.caller.id, public) or tx.require(CredentialRow, public)
    if any(event.payload.get("key_id") == key_id(public) for event in tx.events(types=("key_added",))):
        return
    scope = paths.scope_of("human", memory.caller.id)
    tx.attests = False
    payload = {"principal_id": memory.caller.id} | credentials.named(row)
    tx.event("key_added", subject=row.id, namespace=scope, payload=payload)
    tx.attests = True
