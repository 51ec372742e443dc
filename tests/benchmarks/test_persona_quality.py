"""The measurement of personas can fail: at each target, and with citations that lead elsewhere."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import corpora, figures, judge, persona_quality
from benchmarks.corpora import Sample
from benchmarks.figures import Result
from benchmarks.judge import Remembered, Told
from benchmarks.load_real import Replay, opened
from benchmarks.portraits import NEWS, Portraits, Pure, Stored, portray
from substrate.recall import embedding
from tests.benchmarks import made_up

possible, why_not = embedding.available()
pytestmark = pytest.mark.skipif(not possible, reason=str(why_not))

GOOD = Result(
    name="talk-1 Ida",
    data="locomo",
    facts=100,
    held=1000,
    words=400,
    claims=30,
    sections=5,
    uncited=0,
    faults=(),
    named=1.0,
    fragments=0,
    faithful=1.0,
    grounded=0.9,
    grounded_longest=0.9,
    kept=0.95,
    stated=True,
    seconds=1.0,
    doubtful=[],
    same=True,
    coverage={"fresh": 0.9, "grown": 0.85, "longest": 0.6, "newest": 0.6},
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up.write(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def talk(data: Path) -> Sample:
    return next(corpora.locomo(data))


@pytest.fixture(scope="module")
def encode() -> Remembered:
    return Remembered()


@pytest.fixture(scope="module")
def people(
    tmp_path_factory: pytest.TempPathFactory, talk: Sample, encode: Remembered
) -> Iterator[dict[str, Portraits]]:
    folder, replay = tmp_path_factory.mktemp("store"), Replay()
    memory = opened(folder / "home", replay, folder / "state")
    yield portray(Stored(memory, replay, talk, encode, encode), talk, grow=True, seed=1)
    memory.close()


def test_a_persona_is_read_back_with_what_its_footnotes_lead_to(people: dict[str, Portraits]):
    fresh = people["Ida"].fresh
    assert fresh.faults == ()
    assert sorted(fresh.texts) == [
        "Ida moved to Bergen to repair church organs.",
        "Ida teaches two apprentices on Fridays.",
    ]
    (claim,) = (claim for claim in fresh.claims if "organs" in claim.text)
    assert fresh.cited(claim) == [Told(claim.text, "2025-03-03", ("Ida: I moved to Bergen to repair church organs.",))]


def test_one_more_reflection_is_stated_and_the_rest_is_kept(people: dict[str, Portraits]):
    for person, made in people.items():
        assert made.news in {learnt.format(person) for _, learnt in NEWS}
        assert made.news not in made.fresh.texts
        assert set(made.later.texts) == {*made.fresh.texts, made.news}


def test_the_store_and_the_curator_alone_write_the_same_claims(
    people: dict[str, Portraits], talk: Sample, encode: Remembered
):
    pure = portray(Pure(talk, encode, encode, seed=3), talk, grow=True, seed=1)
    for person, made in people.items():
        assert [claim.text for claim in pure[person].fresh.claims] == made.fresh.texts
        assert pure[person].grown.texts == made.grown.texts


def test_claims_that_cite_what_they_say_pass_and_shuffled_ones_do_not(
    people: dict[str, Portraits], talk: Sample, encode: Remembered
):
    good = figures.result(talk, "Ida", people["Ida"], encode, broken=None)
    assert (good.faithful, good.grounded, good.uncited, good.doubtful) == (1.0, 1.0, 0, [])
    assert good.coverage["fresh"] == 1.0
    broken = [figures.result(talk, "Ida", people["Ida"], encode, broken=seed) for seed in range(9)]
    assert min(found.faithful for found in broken) == min(found.grounded for found in broken) == 0.0


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ("Ida repairs church organs in Bergen.", None),
        ("Ida repairs 40 church organs in Bergen.", "number"),
        ("Ida repairs church organs in Graz.", "name"),
        ("Ida paints harbour scenes and sells postcards in Bergen.", "words"),
        ("Ida does not repair church organs.", "denial"),
    ],
)
def test_a_claim_is_doubtful_for_a_reason(claim: str, why: str | None, encode: Remembered):
    cited = [Told("Ida moved to Bergen to repair church organs.", "2025-03-03", ("I repair organs in Bergen now.",))]
    assert judge.doubt(claim, cited, "Ida", encode) == why


def test_a_claim_that_cites_nothing_or_something_else_is_doubtful(encode: Remembered):
    assert judge.doubt("Ida swims.", [], "Ida", encode) == "nothing cited"
    far = [Told("The museum asked for the prices of old charts.", "2025-03-03", ("Ida swims, by the way.",))]
    assert judge.doubt("Ida swims.", far, "Ida", encode) == "meaning"
    assert not judge.grounded("Ida swims.", [], "Ida", encode)


@pytest.mark.parametrize("text", ["She swims every day.", "swims", "Ida swims (in summer.", "Ida swims every day"])
def test_a_claim_that_is_no_sentence_is_a_fragment(text: str):
    assert judge.fragment(text)
    assert not judge.fragment("Ida swims every day.")


def test_a_baseline_is_cut_to_length():
    assert judge.cut(["one two three", "four five", "six"], 4) == ["one two three", "six"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"uncited": 1}, "1 claims cite nothing"),
        ({"faults": ("footnote 1 cites nothing",)}, "footnote 1 cites nothing"),
        ({"words": 501}, "has 501 words"),
        ({"words": 299}, "has 299 words"),
        ({"fragments": 1}, "has 1 fragments"),
        ({"same": False}, "has other bytes"),
        ({"seconds": 6.0}, "took 6.0 s"),
        ({"faithful": 0.97}, "0.970 of the claims are faithful"),
        ({"kept": 0.89}, "0.890 of the claims are kept"),
        ({"grounded": 0.89}, "turns hold 0.890"),
        ({"coverage": GOOD.coverage | {"fresh": 0.79}}, "coverage of fresh is 0.790"),
        ({"coverage": GOOD.coverage | {"grown": 0.79}}, "coverage of grown is 0.790"),
        ({"coverage": GOOD.coverage | {"longest": 0.85}}, "coverage of grown is 0.850"),
    ],
)
def test_each_target_can_be_missed(change: dict[str, object], told: str):
    (line,) = figures.missed([replace(GOOD, **change)])
    assert told in line


def test_what_meets_every_target_misses_none():
    short = replace(GOOD, held=40, words=40, same=None, coverage={})
    assert list(figures.missed([GOOD, short])) == []


def cells(head: str, line: str) -> dict[str, str]:
    """Read a row of the table; names and titles are two words."""
    return dict(zip(head.split(), line.split()[2:], strict=True))


def test_the_table_ends_in_means_medians_and_sums(capsys: pytest.CaptureFixture[str]):
    figures.table([GOOD, replace(GOOD, kept=0.5, fragments=2, same=False, words=500)])
    head, *_, last = capsys.readouterr().out.splitlines()
    found = cells(head, last)
    assert (found["words"], found["frag"], found["same"], found["kept"]) == ("450", "2", "0", "0.725")


def test_the_command_says_that_the_data_is_absent(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert persona_quality.main([f"--data={tmp_path}"]) == 0
    assert capsys.readouterr().err.startswith("skipped: no development data at ")


def test_the_command_loads_twice_compares_bytes_and_says_what_is_missed(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    command = [f"--data={data}", "--only=locomo", f"--doubtful={tmp_path / 'doubtful.tsv'}"]
    assert persona_quality.main(command) == 1
    said = capsys.readouterr().out.splitlines()
    assert "2 people, 4 reflections on 4 observations" in said[1]
    (head,) = (line for line in said if line.split()[:1] == ["facts"])
    for person in ("Ida", "Bram"):
        (row,) = (line for line in said if line.startswith(f"talk-1 {person} "))
        found = cells(head, row)
        assert (found["facts"], found["uncited"], found["faults"], found["same"]) == ("2", "0", "0", "1")
    assert [line for line in said if line.startswith("missed: ")]  # four short facts cover too little
