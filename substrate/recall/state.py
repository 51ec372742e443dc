"""What an index holds at one event of the log, and how it moves to a later one. Pure: no file, no database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from substrate.recall import segment, vectors
from substrate.recall.documents import Document
from substrate.recall.segment import Bools, Segment
from substrate.recall.vectors import Floats, Vectors

PARTS = 8  # parts of a kind kept before some are merged


@dataclass(frozen=True)
class Part:
    """Hold a segment, which of its documents still count, and the file and code it is kept under, if it is."""

    segment: Segment
    live: Bools
    file: str = ""
    code: str = ""


@dataclass(frozen=True)
class VectorPart:
    """Hold vectors, and the file and code they are kept under, if they are."""

    vectors: Vectors
    file: str = ""
    code: str = ""


@dataclass(frozen=True)
class State:
    """Hold the parts as of event `cursor`, whose hash is `event_hash`; `code` names the manifest it was read from.

    `model` is the name or folder of the model whose vectors are whole, or were when last looked at; "" for none yet.
    """

    cursor: int = 0
    event_hash: str = ""
    parts: tuple[Part, ...] = ()
    vectors: tuple[VectorPart, ...] = ()
    code: str = ""
    published: int = 0
    model: str = ""

    @property
    def unpublished(self) -> int:
        """How many documents are in no file."""
        return sum(len(part.segment) for part in self.parts if not part.file)


def advance(state: State, documents: Mapping[str, Document | None], cursor: int, event_hash: str) -> tuple[State, bool]:
    """Return the state with these memories as they are now, None for one that is gone, and whether text must vanish.

    A document whose text stays leaves its old postings unused where they are. One whose text is gone or other is taken
    out at once, from its segment and from the vectors, together with the terms only it held.
    """
    names = np.array([name.encode() for name in documents], dtype=np.bytes_)
    parts, erased = [], False
    for part in state.parts:
        touched = part.segment.slots(names)
        if not len(touched):
            parts.append(part)
            continue
        live = part.live.copy()
        live[touched] = False
        if any(_text_gone(part.segment, int(slot), documents) for slot in touched):
            erased = erased or bool(part.file)
            parts.append(_whole(segment.combine([(part.segment, live)])))
        else:
            parts.append(replace(part, live=live))
    fresh = [document for document in documents.values() if document is not None]
    if fresh:
        parts.append(_whole(segment.build(fresh)))
    encoded, dropped = _without(state.vectors, {n: d.digest if d else b"" for n, d in documents.items()})
    kept = tuple(part for part in parts if len(part.segment))
    moved = replace(state, cursor=cursor, event_hash=event_hash, parts=_tail_joined(kept, PARTS), vectors=encoded)
    return moved, erased or dropped


def compacted(state: State) -> State:
    """Return the state with at most PARTS parts of each kind, of vectors for each model."""
    parts = _tail_joined(state.parts, 1)
    start = _merge_from([len(part.segment) for part in parts])
    if start < len(parts):
        joined = segment.combine([(part.segment, part.live) for part in parts[start:]])
        parts = (*parts[:start], _whole(joined))
    models = dict.fromkeys(part.vectors.model_id for part in state.vectors)
    encoded = (_merged([part for part in state.vectors if part.vectors.model_id == name]) for name in models)
    return replace(state, parts=parts, vectors=tuple(part for group in encoded for part in group))


def _merged(encoded: Sequence[VectorPart]) -> Sequence[VectorPart]:
    start = _merge_from([len(part.vectors) for part in encoded])
    if start == len(encoded):
        return encoded
    rows = [(part.vectors, np.ones(len(part.vectors), np.bool_)) for part in encoded[start:]]
    return [*encoded[:start], VectorPart(vectors.combine(rows))]


def _merge_from(sizes: Sequence[int]) -> int:
    """Return from which part on to merge: the first no larger than all behind it together, the end if none need be.

    So a document is copied a number of times that grows with the logarithm of the index.
    """
    if len(sizes) <= PARTS:
        return len(sizes)
    return next((n for n in range(len(sizes) - 1) if sizes[n] <= sum(sizes[n + 1 :])), len(sizes) - 2)


def _tail_joined(parts: Sequence[Part], most: int) -> tuple[Part, ...]:
    """Return the parts with those behind the last that is in a file made one, where they are more than so many."""
    start = max((n + 1 for n, part in enumerate(parts) if part.file), default=0)
    if len(parts) - start <= most:
        return tuple(parts)
    joined = segment.combine([(part.segment, part.live) for part in parts[start:]])
    return (*parts[:start], _whole(joined))


def digests(state: State, names: Sequence[str]) -> dict[str, bytes]:
    """Return the digests of the texts these memories have in the state; those it does not hold are left out."""
    wanted = np.array([name.encode() for name in names], dtype=np.bytes_)
    return {
        part.segment.id(slot): part.segment.arrays["digests"][slot].tobytes()
        for part in state.parts
        for slot in part.segment.slots(wanted).tolist()
        if part.live[slot]
    }


def having(state: State, model_id: str, names: Sequence[str]) -> dict[str, bytes]:
    """Return the digests of the texts that these memories have vectors of, by this model."""
    wanted = np.array([name.encode() for name in names], dtype=np.bytes_)
    return {
        str(rows.ids[slot], "utf-8"): rows.digests[slot].tobytes()
        for rows in (part.vectors for part in state.vectors if part.vectors.model_id == model_id)
        for slot in np.flatnonzero(np.isin(rows.ids, wanted)).tolist()
    }


def with_vectors(state: State, model_id: str, found: Mapping[str, tuple[bytes, Floats]]) -> State:
    """Return the state with vectors of a model, given by id with the digest of the text encoded; others' stay."""
    matrix = np.stack([row for _, row in found.values()])
    fresh = vectors.build(model_id, list(found), [digest for digest, _ in found.values()], matrix)
    return replace(state, vectors=(*state.vectors, VectorPart(fresh)))


def serves(state: State, model: str, model_id: str) -> bool:
    """Tell whether a model is the one whose vectors serve, and the state holds no other's."""
    return state.model == model and all(part.vectors.model_id == model_id for part in state.vectors)


def settled(state: State, model: str, model_id: str) -> State:
    """Return the state with the vectors of this model alone, which is the one that serves from now on."""
    return replace(
        state, model=model, vectors=tuple(part for part in state.vectors if part.vectors.model_id == model_id)
    )


def _whole(part: Segment) -> Part:
    return Part(part, np.ones(len(part), np.bool_))


def _text_gone(part: Segment, slot: int, documents: Mapping[str, Document | None]) -> bool:
    now = documents[part.id(slot)]
    return now is None or now.digest != part.arrays["digests"][slot].tobytes()


def _without(parts: Sequence[VectorPart], digests: Mapping[str, bytes]) -> tuple[tuple[VectorPart, ...], bool]:
    """Return the parts without the rows of these ids whose text is another one now, and whether a file held one."""
    names, kept, dropped = np.array([name.encode() for name in digests], dtype=np.bytes_), [], False
    for part in parts:
        keep = np.ones(len(part.vectors), np.bool_)
        for slot in part.vectors.rows(names):
            name = str(part.vectors.ids[slot], "utf-8")
            keep[slot] = digests[name] == part.vectors.digests[slot].tobytes()
        if keep.all():
            kept.append(part)
            continue
        dropped = dropped or bool(part.file)
        if keep.any():
            kept.append(VectorPart(vectors.combine([(part.vectors, keep)])))
    return tuple(kept), dropped
