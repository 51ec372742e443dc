"""Portraits of real people, by meaning: skipped where the development data or the encoder is not there."""

import random

import pytest

from benchmarks import corpora
from curator.persona.claims import Previous
from curator.persona.extractive import compose
from curator.persona.markdown import parse, render, word_count
from curator.persona.source import Source
from substrate.recall import embedding

STATED = 0.65  # cosine at which a claim states a gold event
NONE: frozenset[str] = frozenset()


@pytest.fixture(scope="module")
def embed():
    possible, why = embedding.available()
    if not possible:
        pytest.skip(str(why))
    rows = {}
    model = embedding.load()

    def encode(texts):
        import numpy as np

        new = [text for text in dict.fromkeys(texts) if text not in rows]
        rows.update(zip(new, model.encode(new), strict=True))
        return np.stack([rows[text] for text in texts])

    return encode


@pytest.fixture
def speakers(bench_data):
    folder = bench_data("locomo/locomo_dev.json").parents[1]
    sample = next(corpora.locomo(folder))
    return [
        (name, [reflection(n, fact) for n, fact in enumerate(sample.about(name))], sample.events[name])
        for name in sample.people
    ]


def reflection(number, fact):
    return Source(f"mem-{number:04}", fact.text, None, fact.date, number, 1, frozenset(fact.turns), NONE, NONE)


def others(speakers, name):
    return [other for other, _, _ in speakers if other != name]


@pytest.mark.requirement("S3-6", "S3-7")
def test_a_portrait_states_most_of_what_happened_in_three_to_five_hundred_words(speakers, embed, new_id):
    for name, read, gold in speakers:
        made = compose(name, read, None, embed=embed, new_id=new_id, other_names=others(speakers, name))
        document = render(name, made.draft, {one.id: one for one in read})
        claims = parse(document).claims
        close = embed(list(gold)) @ embed([claim.text for claim in claims]).T
        assert (close.max(axis=1) >= STATED).mean() >= 0.8
        assert 300 <= word_count(document) <= 500
        assert len({claim.section for claim in claims}) >= 4


def test_one_more_reflection_keeps_nine_claims_in_ten(speakers, embed, new_id):
    for name, read, _ in speakers:
        given = {"embed": embed, "new_id": new_id, "other_names": others(speakers, name)}
        first = compose(name, read[:-1], None, **given)
        rows = read[:]
        random.Random(1).shuffle(rows)
        second = compose(name, rows, Previous(first.draft, frozenset(one.id for one in read[:-1])), **given)
        before = [claim.text for claim in first.draft.claims()]
        kept = [text for text in before if text in {claim.text for claim in second.draft.claims()}]
        assert len(kept) >= 0.9 * len(before)
