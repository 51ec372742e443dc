"""Lay claims out as a portrait: a few on top, the others in sections, each in order of time.

Claims that stood in a section stay in it. New ones join the section they are closest to, or found one.

Source: docs/spec/persona.md §2, §3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curator.persona import headings, words
from curator.persona.claims import Claim, Draft, Section
from curator.persona.cluster import Cluster
from curator.persona.source import Source

if TYPE_CHECKING:
    from curator.persona.similarity import Matrix

SUMMARY: Final = 3  # claims on top at most
SUMMARY_WORDS: Final = 30  # words of a claim on top at most
ALL_ON_TOP: Final = 3  # claims in all up to which there are no sections
TWO_ON_TOP: Final = 6  # claims in all below which there are two on top
OUTWEIGHS: Final = 1.5  # how much heavier a claim must be to take a place on top from one that stands there
SECTION_MIN: Final = 2  # claims below which a section joins the closest one
SECTION_MAX: Final = 9  # claims above which a section is split
SECTIONS: Final = 7  # sections at most
RELAID_AT: Final = 6.5  # sources at which the layout is first made anew
RELAID_GROWTH: Final = 1.5  # and by how many times they must have grown for each time after
KINDRED: Final = 0.5  # what belonging to the same cluster adds to the likeness of a claim and a section


def outgrown(before: int, now: int) -> bool:
    """Tell whether the sources grew past a step at which the layout is made anew, every claim word for word.

    Sections founded on a handful of sources would else hold whatever came later. Between the steps, each half as high
    again as the one below, every claim keeps its place.
    """
    step = RELAID_AT
    while step < max(before, now):
        if before < step <= now:
            return True
        step *= RELAID_GROWTH
    return False


@dataclass(slots=True)
class Group:
    """Hold a section in the making: places in the list of claims, and the heading it had."""

    members: list[int]
    heading: str | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """Hold what laying out needs to know of each claim: its likeness to the others, weight, and cluster."""

    claims: Sequence[Claim]
    close: Matrix
    weight: Sequence[float]
    cluster: Sequence[int]
    clusters: Sequence[Cluster]
    by_id: Mapping[str, Source]

    def arrange(self, kept: Draft, grammar: headings.Grammar) -> tuple[tuple[Claim, ...], tuple[Section, ...]]:
        """Answer the claims on top and the sections; `kept` says where the claims stood that were there before."""
        place = {claim.id: at for at, claim in enumerate(self.claims)}
        top = [place[claim.id] for claim in kept.summary if claim.id in place]
        groups = [
            Group([place[claim.id] for claim in section.claims if claim.id in place], section.heading)
            for section in kept.sections
        ]
        groups = [group for group in groups if group.members]
        known = {*top, *(at for group in groups for at in group.members)}
        self._join(groups, [at for at in self._by_time(range(len(self.claims))) if at not in known])
        self._top(top, groups)
        self._balance(groups)
        return tuple(self.claims[at] for at in top), self._sections(groups, grammar)

    def _by_time(self, members: Sequence[int]) -> list[int]:
        return sorted(members, key=lambda at: (self.by_id[self.claims[at].sources[0]].order, at))

    def _bond(self, at: int, group: Group) -> float:
        """Answer how close a claim is to a group: to its two closest members, and by the clusters they share."""
        others = [other for other in group.members if other != at]
        nearest = sorted((float(self.close[at, other]) for other in others), reverse=True)[:2]
        kin = sum(self.cluster[other] == self.cluster[at] for other in others)
        return round(sum(nearest) / max(1, len(nearest)) + KINDRED * kin / max(1, len(others)), 6)

    def _closest(self, at: int, groups: Sequence[Group]) -> Group:
        return max(groups, key=lambda group: self._bond(at, group))

    def _weight(self, group: Group) -> float:
        return round(sum(self.weight[at] for at in group.members), 6)

    def _join(self, groups: list[Group], new: Sequence[int]) -> None:
        """Put each new claim into the closest section made mostly of its cluster; the others found their own."""
        homes: dict[int, list[Group]] = {}
        for group in groups:
            homes.setdefault(self._most(group.members), []).append(group)
        founding: dict[int, list[int]] = {}
        for at in new:
            if self.cluster[at] in homes:
                self._closest(at, homes[self.cluster[at]]).members.append(at)
            else:
                founding.setdefault(self.cluster[at], []).append(at)
        groups += sorted((Group(members) for members in founding.values()), key=self._weight, reverse=True)

    def _most(self, members: Sequence[int]) -> int:
        """Answer the cluster most of the members belong to."""
        shares = Counter(self.cluster[at] for at in members)
        return min(shares, key=lambda cluster: (-shares[cluster], cluster))

    def _top(self, top: list[int], groups: list[Group]) -> None:
        """Fill the places on top, heaviest section first, and let one much heavier claim in for a light one."""
        total = len(self.claims)
        wanted = total if total <= ALL_ON_TOP else 2 if total < TWO_ON_TOP else SUMMARY
        while len(top) < wanted and (best := self._heaviest(groups, top)) is not None:
            self._move(best, groups, top)
        best = self._heaviest(groups, top)
        weakest = min(top, key=lambda at: self.weight[at], default=None)
        if best is not None and weakest is not None and self.weight[best] > OUTWEIGHS * self.weight[weakest]:
            self._move(best, groups, top)
            top.remove(weakest)
            if not groups:
                groups.append(Group([]))
            self._closest(weakest, groups).members.append(weakest)

    def _heaviest(self, groups: Sequence[Group], top: Sequence[int]) -> int | None:
        """Answer the heaviest short claim of the heaviest section that has none on top yet."""
        shown = Counter(self.cluster[at] for at in top)
        fit = [
            (-shown[self.cluster[at]], self._weight(group), self.weight[at], -at)
            for group in groups
            for at in group.members
            if words.count(self.claims[at].text) <= SUMMARY_WORDS
        ]
        return -max(fit)[3] if fit else None

    @staticmethod
    def _move(at: int, groups: list[Group], top: list[int]) -> None:
        for group in groups:
            if at in group.members:
                group.members.remove(at)
        groups[:] = [group for group in groups if group.members]
        top.append(at)

    def _balance(self, groups: list[Group]) -> None:
        """Merge what is too small or too many, then split what is too large, as far as there is room for sections."""
        while len(groups) > 1:
            smallest = min(groups, key=lambda group: (len(group.members), self._weight(group)))
            if len(smallest.members) >= SECTION_MIN and len(groups) <= SECTIONS:
                break
            groups.remove(smallest)
            for at in smallest.members:
                self._closest(at, groups).members.append(at)
        while len(groups) < SECTIONS:
            largest = max(groups, key=lambda group: len(group.members), default=None)
            if largest is None or len(largest.members) <= SECTION_MAX:
                break
            self._split(largest, groups)

    def _split(self, group: Group, groups: list[Group]) -> None:
        """Part a section around the two claims that have least in common, or in the middle of its time.

        The older part keeps the place.
        """
        members = self._by_time(group.members)
        pairs = [(float(self.close[a, b]), a, b) for n, a in enumerate(members) for b in members[n + 1 :]]
        _, a, b = min(pairs, key=lambda pair: pair[0])
        first = [at for at in members if self.close[at, a] >= self.close[at, b]]
        second = [at for at in members if at not in first]
        if min(len(first), len(second)) <= SECTION_MIN:
            first, second = members[: len(members) // 2], members[len(members) // 2 :]
        group.members = first
        groups.insert(groups.index(group) + 1, Group(second))

    def _sections(self, groups: Sequence[Group], grammar: headings.Grammar) -> tuple[Section, ...]:
        """Name the sections: a heading stays as long as it fits, a new one takes no word of another."""
        ordered = [self._by_time(group.members) for group in groups]
        texts = [[self.claims[at].text for at in members] for members in ordered]
        names = [
            group.heading if group.heading and headings.fits(group.heading, held) else None
            for group, held in zip(groups, texts, strict=True)
        ]
        for at, held in enumerate(texts):
            if names[at] is None:
                names[at] = headings.name_section(
                    held,
                    [text for other in texts if other is not held for text in other],
                    grammar,
                    behind=self._behind(ordered[at]),
                    taken=[name for name in names if name],
                )
        return tuple(
            Section(name or "", tuple(self.claims[at] for at in members))
            for name, members in zip(names, ordered, strict=True)
        )

    def _behind(self, members: Sequence[int]) -> list[str]:
        """Answer the sources of the cluster most of the members belong to."""
        return [self.by_id[id].text for id in self.clusters[self._most(members)].members]
