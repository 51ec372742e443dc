"""Regeneration keeps what holds, and moves what does not to what changed."""

import pytest

from curator.persona.claims import Claim, Draft, Previous, Section
from curator.persona.markdown import parse
from tests.curator.persona.stories import body, composed, life, long_life, previous, said, source, told


def placed(draft: Draft) -> list[tuple[str | None, str]]:
    return [(None, claim.text) for claim in draft.summary] + [
        (section.heading, claim.text) for section in draft.sections for claim in section.claims
    ]


def test_nothing_new_changes_nothing():
    read = long_life()
    first = composed(read)
    again = composed(read, previous(first, read))
    assert again.draft == first.draft


def test_one_more_reflection_leaves_the_claims_word_for_word_in_their_places():
    read = long_life(facts=60)
    first = composed(read)
    more = [*read, source("Alice adopted a grey parrot called Coco.", 28, 61, date="2026-06-01T00:00:00.000000Z")]
    second = composed(more, previous(first, read))
    kept = [place for place in placed(first.draft) if place[1] in said(second.draft)]
    assert len(kept) >= 0.9 * len(placed(first.draft))
    assert [place for place in placed(second.draft) if place in placed(first.draft)] == kept
    ids = {claim.text: claim.id for claim in first.draft.claims()}
    assert all(claim.id == ids.get(claim.text, claim.id) for claim in second.draft.claims())


def test_a_new_fact_enters_a_full_body():
    read = long_life()
    first = composed(read)
    more = [*read, source("Alice adopted a grey parrot called Coco.", 28, 81, date="2026-06-01T00:00:00.000000Z")]
    second = composed(more, previous(first, read))
    assert "Alice adopted a grey parrot called Coco." in said(second.draft)
    assert second.words <= 500


def test_new_facts_enter_for_as_long_as_there_are_any():
    read = long_life(facts=40)
    made = composed(read)
    for number in range(41, 81):
        more = [
            *read,
            source(
                f"Alice restored chapel {number} with master mason number {number}.",
                28,
                number,
                date=f"2026-07-{number - 40:02}T00:00:00Z",
            ),
        ]
        made = composed(more, previous(made, read))
        read = more
        assert any(str(number) in text for text in said(made.draft))
        assert made.words <= 500


def test_a_claim_goes_when_one_of_its_sources_goes():
    read = told("Alice lives in Oslo.", "Alice has two cats.", "Alice sails a wooden boat.")
    first = composed(read)
    left = [one for one in read if one.text != "Alice has two cats."]
    second = composed(left, previous(first, read))
    assert "Alice has two cats." not in said(second.draft)
    assert len(said(second.draft)) == 2


def test_what_another_source_says_too_is_said_in_its_words():
    read = told("Maria volunteers at a homeless shelter.", "Maria volunteers at a homeless shelter weekly.")
    first = composed(read, name="Maria")
    second = composed(read[1:], previous(first, read), name="Maria")
    assert said(second.draft) == ["Maria volunteers at a homeless shelter weekly."]


def test_room_that_is_left_is_filled_from_sources_not_used_before():
    read = long_life()
    first = composed(read)
    spoken = set(said(first.draft))
    dropped = {one.id for one in [one for one in read if one.text in spoken][:8]}
    left = [one for one in read if one.id not in dropped]
    second = composed(left, previous(first, read))
    assert second.words >= first.words - 15


@pytest.mark.parametrize(
    "link", [{}, {"contradicts": frozenset({"mem-0001"})}, {"supersedes": frozenset({"mem-0001"})}]
)
def test_what_a_newer_source_contradicts_moves_to_what_changed_with_both_ends_cited(link):
    read = told("Alice lives in Berlin.", "Alice has two cats.", "Alice sails a wooden boat.")
    first = composed(read)
    more = [*read, source("Alice lives in Oslo.", 9, **link)]
    second = composed(more, previous(first, read))
    assert [(claim.text, claim.sources) for claim in second.draft.changed] == [
        ("On 1 May 2026: Alice lives in Berlin. On 9 May 2026: Alice lives in Oslo.", ("mem-0001", "mem-0009"))
    ]
    texts = [text for _, text in placed(second.draft)]
    assert "Alice lives in Oslo." in texts and "Alice lives in Berlin." not in texts
    last = parse(body(more, second.draft)).claims[-1]
    assert (last.section, last.sources) == ("What changed", ("mem-0001", "mem-0009"))


def test_a_change_stays_until_its_sources_go():
    read = [*told("Alice lives in Berlin.", "Alice has two cats."), source("Alice lives in Oslo.", 9)]
    first = composed(read)
    again = composed(read, previous(first, read))
    assert again.draft.changed == first.draft.changed != ()
    gone = composed(read[1:], previous(first, read))
    assert gone.draft.changed == ()


def test_a_fresh_portrait_shows_changes_too():
    read = [*told("Alice eats meat.", "Alice has two cats."), source("Alice no longer eats meat.", 9)]
    made = composed(read)
    assert [claim.sources for claim in made.draft.changed] == [("mem-0001", "mem-0009")]
    assert "Alice eats meat." not in [text for _, text in placed(made.draft)]


def test_full_rebuilds_from_the_sources_alone():
    read = life(rounds=4)
    foreign = Draft((Claim("clm-9", "Alice grows tomatoes.", ("mem-0001",)),), (), ())
    kept = composed(read, Previous(foreign, frozenset({"mem-0001"})))
    rebuilt = composed(read, Previous(foreign, frozenset({"mem-0001"})), full=True)
    assert "clm-9" in {claim.id for claim in kept.draft.claims()}
    assert "clm-9" not in {claim.id for claim in rebuilt.draft.claims()}
    assert said(rebuilt.draft) == said(composed(read).draft)


def test_a_kept_claim_that_no_longer_passes_the_checks_goes():
    read = told("Bob earns 100 euros.", "Alice has two cats.")
    first = composed(read)
    assert "Bob earns 100 euros." in said(first.draft)
    second = composed(read, previous(first, read), other_names=("Bob",))
    assert said(second.draft) == ["Alice has two cats."]


def test_a_kept_claim_cites_what_newly_says_the_same():
    read = told("Maria volunteers at a homeless shelter.", "Maria likes tea.")
    first = composed(read, name="Maria")
    more = [*read, source("Maria volunteers at a homeless shelter every week.", 5)]
    second = composed(more, previous(first, read), name="Maria")
    cites = {claim.text: claim.sources for claim in second.draft.claims()}
    assert cites["Maria volunteers at a homeless shelter."] == ("mem-0001", "mem-0005")


def test_a_body_that_was_too_long_is_cut_to_the_bound():
    read = long_life(facts=120)
    wide = Draft(
        (), (Section("Deeds", tuple(Claim(f"clm-{n}", one.text, (one.id,)) for n, one in enumerate(read))),), ()
    )
    made = composed(read, Previous(wide, frozenset(one.id for one in read)))
    assert 400 <= made.words <= 500
