"""Compose a portrait from the reflections' own sentences, without a model.

Source: docs/spec/persona.md §3; what each step does stands in the module it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from curator.persona import changes, delta, headings, markdown, similarity, words
from curator.persona.candidates import Candidate, cited, gather, supported, twins
from curator.persona.checks import check
from curator.persona.claims import Claim, Composition, Draft, Previous
from curator.persona.cluster import Cluster, communities
from curator.persona.salience import Portrait, size
from curator.persona.sections import Layout, outgrown
from curator.persona.sentences import Rank
from curator.persona.source import Source, in_order
from substrate.limits import PERSONA_WORDS_MAX, PERSONA_WORDS_MIN

if TYPE_CHECKING:
    from curator.persona.similarity import Embed, Matrix

HEADINGS: Final = 25  # words kept free for the headings, their marks included
ENOUGH: Final = PERSONA_WORDS_MIN + 50  # size of a body up to which sentences that stand less well are used
NEWCOMERS: Final = 2  # claims from new sources that enter a full body whatever their salience
MOST: Final = 2_500  # candidates weighed at most, the newest; 400 reflections hold about 900


def compose(
    name: str,
    sources: Sequence[Source],
    previous: Previous | None,
    *,
    embed: Embed | None,
    new_id: Callable[[str], str],
    other_names: Sequence[str] = (),
    full: bool = False,
) -> Composition:
    """Compose a draft about `name` from `sources`, keeping what still holds of `previous`; with `full`, nothing.

    The same sources give the same draft in whatever order they come. `other_names` are the names of other registered
    entities. Without `embed` likeness is overlap of words. A draft without a claim means that no sentence could stand;
    the caller then goes on serving the old persona.
    """
    try:
        return _composed(name, in_order(sources), previous, embed, new_id, other_names, full)
    finally:
        words.forget()


def _composed(
    name: str,
    ordered: Sequence[Source],
    previous: Previous | None,
    embed: Embed | None,
    new_id: Callable[[str], str],
    other_names: Sequence[str],
    full: bool,
) -> Composition:
    by_id = {source.id: source for source in ordered}
    candidates, dropped = gather(ordered, name, other_names, embed)
    base = previous if previous is not None and not full else Previous(Draft(), frozenset())
    kept = delta.keep(base.draft, by_id, name=name, other_names=other_names, embed=embed)
    pool = _pool(candidates, kept, by_id)
    close = similarity.matrix([candidate.text for candidate in pool], embed, words.stems(name))
    clusters, cluster_of = _clusters(pool, close, by_id, embed is not None)

    pairs = changes.find(pool, close, embed is not None, name, by_id)
    shown = delta.changed(kept.changed, _news(pairs, pool, kept, base.sources), by_id)
    judge = partial(check, sources_by_id=by_id, name=name, other_names=other_names, embed=embed)
    changed = [(text, ids) for text, ids in shown if judge(Claim("", text, ids)) is None]
    portrait = Portrait(pool, similarity.reach(close, embed is not None), by_id)
    barred = {older for older, _ in pairs} | _taken_back(pool, changed)
    chosen = _choose(pool, portrait, close, kept, base, barred, name, changed, embed is not None)

    claims = _claims(chosen, pool, kept, supported(pool, chosen, close, embed is not None), by_id, new_id)
    weights = portrait.statements()
    layout = Layout(
        claims,
        close[chosen][:, chosen],
        [float(weights[at]) for at in chosen],
        [cluster_of[pool[at].sources[0]] for at in chosen],
        clusters,
        by_id,
    )
    grammar = headings.learn([source.text for source in ordered], name)
    laid = Draft() if outgrown(len(base.sources), len(ordered)) else kept
    summary, sections = layout.arrange(laid, grammar)
    draft = Draft(summary, sections, tuple(_change(text, ids, kept, new_id) for text, ids in changed))
    count = markdown.word_count(markdown.render(name, draft, by_id))
    used = {id for candidate in pool for id in candidate.sources}
    return Composition(draft, len(clusters), len(ordered), len(used), tuple(dropped), count < PERSONA_WORDS_MIN, count)


def _pool(candidates: Sequence[Candidate], kept: Draft, by_id: Mapping[str, Source]) -> list[Candidate]:
    """Join the kept claims and the candidates, oldest first, each text once."""
    found = {claim.text: Candidate(claim.text, claim.sources, Rank.NAMED) for claim in _standing(kept)}
    newest = sorted(candidates, key=lambda candidate: by_id[candidate.sources[0]].order)[-MOST:]
    for candidate in newest:
        held = found.get(candidate.text)
        leading = held.sources if held else ()
        found[candidate.text] = replace(candidate, sources=tuple(dict.fromkeys((*leading, *candidate.sources))))
    return sorted(found.values(), key=lambda candidate: (by_id[candidate.sources[0]].order, candidate.text))


def _standing(draft: Draft) -> list[Claim]:
    return [*draft.summary, *(claim for section in draft.sections for claim in section.claims)]


def _clusters(
    pool: Sequence[Candidate], close: Matrix, by_id: Mapping[str, Source], embedded: bool
) -> tuple[list[Cluster], dict[str, int]]:
    """Group the sources that have a candidate, two being as close as their closest sentences."""
    import numpy as np

    held = sorted((by_id[id].order, at, id) for at, candidate in enumerate(pool) for id in candidate.sources)
    if not held:
        return [], {}
    rows = [at for _, at, _ in held]
    starts = [place for place, (_, _, id) in enumerate(held) if place == 0 or held[place - 1][2] != id]
    wide = close[rows][:, rows]
    narrow = np.maximum.reduceat(np.maximum.reduceat(wide, starts, axis=0), starts, axis=1)
    clusters = communities([by_id[held[place][2]] for place in starts], narrow, embedded)
    return clusters, {id: place for place, cluster in enumerate(clusters) for id in cluster.members}


def _news(
    pairs: Sequence[tuple[int, int]], pool: Sequence[Candidate], kept: Draft, seen: frozenset[str]
) -> list[tuple[Candidate, Candidate]]:
    """Answer the changes to be shown: those that touch a claim that stood, or come from a new source."""
    stood = {claim.text for claim in _standing(kept)}
    found = [(pool[older], pool[newer]) for older, newer in pairs]
    return [(older, newer) for older, newer in found if older.text in stood or not seen.issuperset(newer.sources)]


def _taken_back(pool: Sequence[Candidate], changed: Sequence[tuple[str, tuple[str, ...]]]) -> set[int]:
    """Answer the candidates that a change tells as its older end, whoever found it."""
    ends = [(ids[0], text) for text, ids in changed]
    return {at for at, one in enumerate(pool) if any(one.sources[0] == id and one.text in text for id, text in ends)}


def _choose(
    pool: Sequence[Candidate],
    portrait: Portrait,
    close: Matrix,
    kept: Draft,
    base: Previous,
    barred: set[int],
    name: str,
    changed: Sequence[tuple[str, tuple[str, ...]]],
    embedded: bool,
) -> list[int]:
    """Choose what the body says: what stands, then new sources, then whatever else there is room for."""

    def clash(one: int, other: int) -> bool:
        return twins(pool[one].text, pool[other].text, float(close[one, other]), embedded)

    place = {candidate.text: at for at, candidate in enumerate(pool)}
    standing = [at for claim in _standing(kept) if (at := place[claim.text]) not in barred]
    free = [at for at, candidate in enumerate(pool) if at not in barred and candidate.rank < Rank.DEFINITE]
    new = [at for at in free if not base.sources.issuperset(pool[at].sources)]
    headed = sum(size(section.heading) for section in kept.sections)
    around = size(name) + max(HEADINGS, headed) + sum(size(text) for text, _ in changed)
    room = PERSONA_WORDS_MAX - around
    guarded = NEWCOMERS if standing else 0
    chosen = portrait.fill(portrait.fitted(standing, room), new, room, clash=clash, guarded=guarded)
    chosen = portrait.fill(chosen, free, room, clash=clash, evict=False)
    rest = [at for at in range(len(pool)) if at not in barred]
    return portrait.fill(chosen, rest, ENOUGH - around, clash=clash, evict=False)


def _claims(
    chosen: Sequence[int],
    pool: Sequence[Candidate],
    kept: Draft,
    support: Sequence[tuple[str, ...]],
    by_id: Mapping[str, Source],
    new_id: Callable[[str], str],
) -> list[Claim]:
    """Make the chosen candidates claims: a kept one stays itself and cites what newly says the same."""
    stood = {claim.text: claim for claim in _standing(kept)}
    made = {}
    for at, saying in sorted(zip(chosen, support, strict=True)):
        text = pool[at].text
        known = stood.get(text)
        leading = known.sources if known else pool[at].sources[:1]
        made[at] = Claim(known.id if known else new_id("clm"), text, cited(leading, saying, by_id))
    return [made[at] for at in chosen]


def _change(text: str, ids: tuple[str, ...], kept: Draft, new_id: Callable[[str], str]) -> Claim:
    known = next((claim for claim in kept.changed if claim.text == text), None)
    return known or Claim(new_id("clm"), text, ids)
