"""Compose a portrait from claims, the same way whoever wrote them.

What still holds of the last version is kept, contradictions are looked for among all sentences of the sources, claims
are chosen within the room there is, and laid out. Headings, summary and order are made here, for a heading is a claim
without a citation ([0021](../../docs/adr/0021-a-model-writes-claims-and-code-lays-them-out.md)).

Source: docs/spec/persona.md §3; what each step does stands in the module it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from curator.persona import changes, delta, headings, markdown, retold, similarity, words
from curator.persona.candidates import Candidate, cited, gather, states, supported, twins
from curator.persona.checks import check
from curator.persona.claims import Claim, Composition, Draft, Previous
from curator.persona.cluster import Cluster, communities
from curator.persona.directives import directs
from curator.persona.salience import Portrait, size
from curator.persona.sections import Layout, outgrown
from curator.persona.sentences import Rank
from curator.persona.sentences import sentences as sentences_of
from curator.persona.source import Source, in_order
from substrate.limits import PERSONA_WORDS_MAX, PERSONA_WORDS_MIN

if TYPE_CHECKING:
    from curator.persona.similarity import Embed, Matrix

HEADINGS: Final = 25  # words kept free for the headings, their marks included
ENOUGH: Final = PERSONA_WORDS_MIN + 50  # size of a body up to which sentences that stand less well are used
NEWCOMERS: Final = 2  # claims from new sources that enter a full body whatever their salience
MOST: Final = 2_500  # candidates weighed at most, the newest; 400 reflections hold about 900

Pairs = list[tuple[int, int]]  # places of an older candidate, and of a newer one that takes it back


@dataclass(frozen=True)
class Ground:
    """Hold what a portrait is composed on, before anybody has written a claim.

    `sources` come oldest first; `sentences` are those of them that are fit to be claims, and `dropped` those that are
    not, with the reason; `kept` is what still holds of `base`, the version that is built on.
    """

    name: str
    other_names: Sequence[str]
    sources: Sequence[Source]
    embed: Embed | None
    sentences: Sequence[Candidate]
    dropped: Sequence[tuple[str, str]]
    base: Previous
    kept: Draft

    @cached_property
    def by_id(self) -> Mapping[str, Source]:
        """Map the sources by id."""
        return {source.id: source for source in self.sources}

    @cached_property
    def stated(self) -> Mapping[str, Source]:
        """Map the sources by id without the sentences that order something: what they state."""
        names = (self.name, *self.other_names)

        def stated(text: str) -> str:
            return " ".join(one for one in sentences_of(text) if not directs(one, names))

        return {
            id: replace(
                source,
                text=stated(source.text),
                title=None if source.title is None or directs(source.title, names) else source.title,
            )
            for id, source in self.by_id.items()
        }

    @cached_property
    def standing(self) -> Sequence[Claim]:
        """List the kept claims of the body."""
        return [*self.kept.summary, *(claim for section in self.kept.sections for claim in section.claims)]

    def fault(self, claim: Claim) -> str | None:
        """Answer why a claim may not stand, or None."""
        return check(claim, self.by_id, name=self.name, other_names=self.other_names, embed=self.embed)

    def misfit(self, change: Claim) -> str | None:
        """Answer why a change may not stand, or None."""
        return retold.fault(change, self.by_id, self.fault)

    def close(self, pool: Sequence[Candidate]) -> Matrix:
        """Answer how close the candidates are to each other."""
        return similarity.matrix([one.text for one in pool], self.embed, words.stems(self.name))

    def clusters(self) -> list[Cluster]:
        """Group the sources by their own sentences; those without one are in no group."""
        return _clusters(self.sentences, self.close(self.sentences), self.by_id, self.embed is not None)[0]


def survey(
    name: str,
    sources: Sequence[Source],
    previous: Previous | None,
    *,
    embed: Embed | None,
    other_names: Sequence[str] = (),
    full: bool = False,
) -> Ground:
    """Read sources about `name` and what still holds of `previous`; with `full` only what is pinned there.

    The same sources give the same ground in whatever order they come. `other_names` are the names of other registered
    entities. Without `embed` likeness is overlap of words.
    """
    ordered = in_order(sources)
    by_id = {source.id: source for source in ordered}
    sentences, dropped = gather(ordered, name, other_names, embed)
    base = previous or Previous(Draft(), frozenset())
    if full:
        base = Previous(delta.pinned(base.draft), frozenset())
    kept = delta.keep(base.draft, by_id, name=name, other_names=other_names, embed=embed)
    return Ground(name, other_names, ordered, embed, sentences, dropped, base, kept)


def compose(
    ground: Ground,
    new_id: Callable[[str], str],
    written: Sequence[Candidate] | None = None,
    replaced: Mapping[str, str] | None = None,
) -> Composition:
    """Compose a draft of what is kept and of the `written` claims or, where none are given, of the sources' sentences.

    `replaced` maps the text of a written claim to the id of the kept one it says it replaces; that is heeded where the
    other is not pinned, older and near, and the change can be shown. A draft without a claim means that nothing could
    stand; the caller then goes on serving the old persona.
    """
    weighed = _weigh(ground, written, replaced or {})
    pool, close, by_id, kept = weighed.pool, weighed.close, ground.by_id, ground.kept
    embedded = ground.embed is not None
    shown = delta.changed(kept.changed, weighed.news(), by_id)
    changed = weighed.fitting([claim for claim in shown if claim.pinned or ground.misfit(claim) is None])
    portrait = Portrait(pool, similarity.reach(close, embedded), by_id)
    chosen = _choose(weighed, portrait, changed)

    claims = _claims(chosen, pool, ground, supported(pool, chosen, close, embedded), new_id)
    clusters, cluster_of = _clusters(pool, close, by_id, embedded)
    weights = portrait.statements()
    layout = Layout(
        claims,
        close[chosen][:, chosen],
        [float(weights[at]) for at in chosen],
        [cluster_of[pool[at].sources[0]] for at in chosen],
        clusters,
        by_id,
    )
    grammar = headings.learn([source.text for source in ground.sources], ground.name)
    laid = Draft() if outgrown(len(ground.base.sources), len(ground.sources)) else kept
    summary, sections = layout.arrange(laid, grammar)
    draft = Draft(summary, sections, tuple(_change(claim, kept, new_id) for claim in changed))
    count = markdown.word_count(markdown.render(ground.name, draft, by_id))
    used = {id for candidate in pool for id in candidate.sources}
    return Composition(
        draft, len(clusters), len(by_id), len(used), tuple(ground.dropped), count < PERSONA_WORDS_MIN, count
    )


@dataclass(frozen=True, slots=True)
class Weighed:
    """Hold everything that is said, by places in `pool`, and what of it may be a claim.

    `close` are the n × n likenesses, `pairs` (older, newer) places where one takes back the other, `open` what somebody
    wrote as a claim or was one; the rest are sentences that only tell what matters. `pinned` is never taken back.
    """

    ground: Ground
    pool: Sequence[Candidate]
    close: Matrix
    pairs: Sequence[tuple[int, int]]
    open: Collection[int]
    pinned: frozenset[int]

    def news(self) -> list[tuple[Candidate, Candidate]]:
        """Answer the changes to be shown: those that touch a claim that stood, or come from a new source.

        Where a claim and the sentence that it words are both taken back, the claim is what is told.
        """
        stood, seen = {claim.text for claim in self.ground.standing}, self.ground.base.sources
        told = {(newer, id) for older, newer in self.pairs if older in self.open for id in self.pool[older].sources}
        found = [
            (self.pool[older], self.pool[newer])
            for older, newer in self.pairs
            if older in self.open or told.isdisjoint((newer, id) for id in self.pool[older].sources)
        ]
        return [(older, newer) for older, newer in found if older.text in stood or not seen.issuperset(newer.sources)]

    def fitting(self, changed: Sequence[Claim]) -> list[Claim]:
        """Leave out the oldest changes where what is pinned leaves no room for them."""
        left = list(changed)
        held = sum(size(self.pool[at].text) for at in self.pinned)
        while self.around(left) + held > PERSONA_WORDS_MAX and (loose := [one for one in left if not one.pinned]):
            left.remove(loose[0])
        return left

    def around(self, changed: Sequence[Claim]) -> int:
        """Answer the room that everything but the claims of the body takes."""
        headed = sum(size(section.heading) for section in self.ground.kept.sections)
        return size(self.ground.name) + max(HEADINGS, headed) + sum(size(claim.text) for claim in changed)

    def barred(self, changed: Sequence[Claim]) -> set[int]:
        """Answer what was taken back: as the older of a pair, or told so by a change, whoever found it."""
        ends = [(claim.sources[0], claim.text) for claim in changed]
        told = {
            at
            for at, one in enumerate(self.pool)
            if any(one.sources[0] == id and one.text in text for id, text in ends)
        }
        return ({older for older, _ in self.pairs} | told) - self.pinned


def _weigh(ground: Ground, written: Sequence[Candidate] | None, replaced: Mapping[str, str]) -> Weighed:
    pool = _pool(ground, written or ())
    close = ground.close(pool)
    pairs = changes.find(pool, close, ground.embed is not None, ground.name, ground.by_id)
    place = {candidate.text: at for at, candidate in enumerate(pool)}
    pinned = frozenset(place[claim.text] for claim in ground.standing if claim.pinned)
    texts = [*(claim.text for claim in ground.standing), *(claim.text for claim in written or ())]
    claims = frozenset(place[text] for text in texts)
    pairs = [*pairs, *_echoed(pairs, pool, claims)]
    if written is None:
        return Weighed(ground, pool, close, pairs, range(len(pool)), pinned)
    known = {claim.id: place[claim.text] for claim in ground.standing if not claim.pinned}
    said = [(known[id], place[text]) for text, id in replaced.items() if id in known]
    pairs += [(older, newer) for older, newer in said if _replaces(ground, pool, close, older, newer)]
    return Weighed(ground, pool, close, pairs, claims, pinned)


def _pool(ground: Ground, written: Sequence[Candidate]) -> list[Candidate]:
    """Join the kept claims, the written ones and the sentences, oldest first, each text once."""
    by_id = ground.by_id
    found = {claim.text: _stood(ground, claim) for claim in ground.standing}
    newest = sorted(ground.sentences, key=lambda candidate: by_id[candidate.sources[0]].order)[-MOST:]
    for candidate in (*written, *newest):
        held = found.get(candidate.text)
        sources = dict.fromkeys((*(held.sources if held else ()), *candidate.sources))
        joint = candidate.joint and (held is None or held.joint)
        found[candidate.text] = replace(candidate, sources=tuple(sources), joint=joint)
    return sorted(found.values(), key=lambda candidate: (by_id[candidate.sources[0]].order, candidate.text))


def _stood(ground: Ground, claim: Claim) -> Candidate:
    joint = len(claim.sources) > 1 and ground.fault(Claim("", claim.text, claim.sources[:1])) is not None
    return Candidate(claim.text, claim.sources, Rank.NAMED, joint)


def _echoed(pairs: Sequence[tuple[int, int]], pool: Sequence[Candidate], claims: frozenset[int]) -> Pairs:
    """Answer which claims, in whatever words, say what a sentence of their sources said that is taken back now."""
    found = {older for older, _ in pairs}
    echoed: Pairs = []
    for older, newer in pairs:
        told, since = set(pool[older].sources), set(pool[newer].sources)
        for at in sorted(claims - found):
            rests = set(pool[at].sources)
            if rests & told and not rests & since and states(pool[at].text, pool[older].text):
                found.add(at)
                echoed.append((at, newer))
    return echoed


def _replaces(ground: Ground, pool: Sequence[Candidate], close: Matrix, older: int, newer: int) -> bool:
    """Tell whether a claim may take the place of another because its writer says so."""
    latest = [max(ground.by_id[id].order for id in pool[at].sources) for at in (older, newer)]
    floor = changes.NEAR if ground.embed is not None else changes.NEAR_WORDS
    if older == newer or latest[1] <= latest[0] or close[older, newer] < floor:
        return False
    made = delta.change(pool[older], pool[newer], ground.by_id)
    return made is not None and ground.misfit(made) is None


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


def _choose(weighed: Weighed, portrait: Portrait, changed: Sequence[Claim]) -> list[int]:
    """Choose what the body says: what stands, then new sources, then whatever else there is room for."""
    ground, pool, close = weighed.ground, weighed.pool, weighed.close
    embedded = ground.embed is not None

    def clash(one: int, other: int) -> bool:
        return twins(pool[one].text, pool[other].text, float(close[one, other]), embedded)

    barred, around = weighed.barred(changed), weighed.around(changed)
    place = {candidate.text: at for at, candidate in enumerate(pool)}
    standing = [at for claim in ground.standing if (at := place[claim.text]) not in barred]
    rest = [at for at in sorted(weighed.open) if at not in barred]
    free = [at for at in rest if pool[at].rank < Rank.DEFINITE]
    new = [at for at in free if not ground.base.sources.issuperset(pool[at].sources)]
    room, held = PERSONA_WORDS_MAX - around, weighed.pinned
    fill = partial(portrait.fill, clash=clash, held=held)
    chosen = fill(portrait.fitted(standing, room, held), new, room, guarded=NEWCOMERS if standing else 0)
    chosen = fill(chosen, free, room, evict=False)
    return fill(chosen, rest, ENOUGH - around, evict=False)


def _claims(
    chosen: Sequence[int],
    pool: Sequence[Candidate],
    ground: Ground,
    support: Sequence[tuple[str, ...]],
    new_id: Callable[[str], str],
) -> list[Claim]:
    """Make the chosen candidates claims: a kept one stays itself and cites what newly says the same."""
    stood = {claim.text: claim for claim in ground.standing}
    made = {}
    for at, saying in sorted(zip(chosen, support, strict=True)):
        text = pool[at].text
        known = stood.get(text) or Claim(new_id("clm"), text, pool[at].leading)
        made[at] = replace(known, sources=cited(known.sources, saying, ground.by_id))
    return [made[at] for at in chosen]


def _change(claim: Claim, kept: Draft, new_id: Callable[[str], str]) -> Claim:
    known = next((one for one in kept.changed if one.text == claim.text), None)
    return known or replace(claim, id=new_id("clm"))
