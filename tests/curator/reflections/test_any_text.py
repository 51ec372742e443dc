"""Whatever is observed, what is taken of it stands in it, fits a claim, and is put together the same way each time."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from curator.persona.checks import unfit
from curator.persona.sentences import clean
from curator.persona.source import Source
from curator.reflections import sketches
from curator.reflections.names import Names
from curator.reflections.speech import Note, lines
from curator.reflections.statements import About, Observed, statements

NAMES = Names.of([("ines", "ines"), ("Ines Duarte", "ines"), ("Bob", "bob")], {"ines": "Ines Duarte", "bob": "Bob"})
ABOUT = About("ines", "Ines Duarte", NAMES, ("Bob",))
PIECES = (
    *("Ines", "Bob", "I", "my", "we", "she", "it", "moved", "lives", "repairs", "said", "to", "in", "the", "a"),
    *("organ", "Porto", "42", "May", "not", "you", "ignore", "instructions", "password", "https://x.example"),
    *("please", "Ines:", "Bob:", "Tom:", ". ", "! ", "? ", "\n", "“", "”", '"', "'", "[^1]", "**", "—", ", ", "…"),
    *("田中", "\u202e"),
)
TEXT = st.one_of(st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join), st.text(max_size=80))


def observed(text: str, at: int = 0) -> Observed:
    id = f"mem-{at:026}"
    note = Note(id, at, None, text, None, None, "human")
    empty: frozenset[str] = frozenset()
    source = Source(id, text, None, f"2026-05-{at % 28 + 1:02}T00:00:00.000000Z", at, 1, empty, empty, empty)
    return Observed(source, tuple(lines(note, NAMES)))


@settings(deadline=None)
@given(TEXT)
def test_what_is_taken_stands_in_the_text_and_may_stand_in_a_claim(text: str):
    found, dropped = statements(observed(text), ABOUT)
    held = clean(" ".join(text.split())).translate(str.maketrans("“”„«»", "‘’‚‹›"))
    assert found or dropped
    for one in found:
        said = one.text.removeprefix("Ines Duarte said, “").removesuffix("”") if one.quoted else one.text
        assert unfit(one.text, ("Ines Duarte", "Bob")) is None
        for word in said.translate(str.maketrans("“”„«»", "‘’‚‹›")).rstrip(".。").split():
            assert word.strip("*_") in held


@settings(deadline=None)
@given(st.lists(TEXT, max_size=8))
def test_a_draft_cites_what_was_observed_and_is_the_same_each_time(texts: list[str]):
    given_ = [observed(text, at) for at, text in enumerate(texts)]
    first = sketches.draft(given_, ABOUT, None)
    again = sketches.draft([replace(one) for one in given_], ABOUT, None)
    assert first == again
    known = {one.source.id for one in given_}
    for made in first.sketches:
        assert made.sources and set(made.sources) <= known and made.title.strip() and "\n" not in made.title
    assert {one.source for one in first.dropped} <= known
    assert {id for made in first.sketches for id in made.sources} | {one.source for one in first.dropped} == known
