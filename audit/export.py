"""Write a log as lines that anyone can verify, and verify such lines.

The first line is a header {v, store_id, genesis_key, checkpoint, anchor?}, every further one an event
{seq, body, signature, key_id} with body and signature in base64; each line is canonical JSON.
Source: docs/spec/audit.md §2.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict

from audit import anchor as anchors
from audit import canonical, checkpoint
from audit.anchor import Anchor
from audit.errors import Integrity, Invalid
from audit.keys import is_public
from audit.verify import Fault, Row, Summary, verify_log

VERSION = 1
_LINE = {"seq", "body", "signature", "key_id"}
_HEADER = {"v", "store_id", "genesis_key", "checkpoint"}


def write_export(
    rows: Iterable[Row], store_id: str, genesis_key: str | None, note: str, anchor: Anchor | None = None
) -> Iterator[bytes]:
    """Give the lines of an export, each with its newline; `note` is the checkpoint over exactly these rows."""
    header: dict[str, object] = {
        "v": VERSION,
        "store_id": store_id,
        "genesis_key": genesis_key,
        "checkpoint": note,
    }
    if anchor is not None:
        header["anchor"] = asdict(anchor)
    yield canonical.encode(header) + b"\n"
    for sequence, body, signature, key_id in rows:
        line = {
            "seq": sequence,
            "body": canonical.to_base64(body),
            "signature": None if signature is None else canonical.to_base64(signature),
            "key_id": key_id,
        }
        yield canonical.encode(line) + b"\n"


def verify_export(lines: Iterable[bytes]) -> tuple[list[Fault], Summary | None]:
    """Return the faults of an exported log and what it says; no summary when its header cannot be read.

    The header's genesis key is believed: compare it with the one known from elsewhere.
    """
    lines = iter(lines)
    try:
        store_id, genesis_key, note, anchor = _header(next(lines, b""))
    except (Invalid, Integrity) as error:
        return [Fault("export", None, None, f"the header cannot be read: {error}")], None
    malformed: list[Fault] = []
    rows = _rows(lines, malformed)
    faults, summary = verify_log(rows, store_id, genesis_key, notes=[note], anchor=anchor)
    if not faults and not malformed and checkpoint.parse(note, None).size != summary.size:
        malformed.append(Fault("checkpoint", None, None, "the export goes on after its checkpoint"))
    return malformed + faults, summary


def _header(line: bytes) -> tuple[str, str | None, str, Anchor | None]:
    document = _object(line)
    if document.keys() - {"anchor"} != _HEADER or type(document["v"]) is not int or document["v"] != VERSION:
        raise Invalid("unknown version or fields")
    store_id, genesis_key, note = document["store_id"], document["genesis_key"], document["checkpoint"]
    if not isinstance(store_id, str) or not isinstance(note, str):
        raise Invalid("store_id and checkpoint are text")
    if not (genesis_key is None or (isinstance(genesis_key, str) and is_public(genesis_key))):
        raise Invalid("genesis_key is not a public key")
    anchor = anchors.from_document(document["anchor"]) if "anchor" in document else None
    return store_id, genesis_key, note, anchor


def _rows(lines: Iterator[bytes], malformed: list[Fault]) -> Iterator[Row]:
    """Give the rows up to the first line that cannot be read, which goes to `malformed`."""
    for number, line in enumerate(lines, start=2):
        try:
            document = _object(line)
            sequence, key_id = document.get("seq"), document.get("key_id")
            if document.keys() != _LINE or type(sequence) is not int or not isinstance(key_id, (str, type(None))):
                raise Invalid("unknown, missing or malformed fields")
            signature = None if document["signature"] is None else canonical.from_base64(document["signature"])
            row = (sequence, canonical.from_base64(document["body"]), signature, key_id)
        except Invalid as error:
            malformed.append(Fault("export", None, None, f"line {number} cannot be read: {error}"))
            return
        yield row


def _object(line: bytes) -> dict[str, object]:
    document = canonical.decode(line.removesuffix(b"\n"))
    if not isinstance(document, dict):
        raise Invalid("not an object")
    return document
