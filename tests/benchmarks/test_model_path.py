"""What a model says falsely is not stored, and a program that leaves the checks out is found out."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.drafts import FALSE, TRUE, Drafts, items, plain
from benchmarks.model_path import main
from curator.persona import checks, prompt, written
from substrate.recall import embedding

ROOT = Path(__file__).resolve().parents[2]
TOLD = {
    "Ida": (
        "moved to Bergen with her sister after the flood.",
        "repairs church organs in four valleys.",
        "teaches two apprentices in the workshop on Fridays.",
        "collects tide clocks from old harbours.",
        "plans to visit Lisbon in October.",
        "learned tuning from her grandmother during the winter.",
        "was given a silver pitch pipe at the guild dinner.",
        "sings alto in the cathedral choir.",
        "bakes rye bread with caraway before sunrise.",
        "paints the bellows of every harmonium with linseed oil.",
        "reads old shipping almanacs during long train rides.",
        "swam across the fjord with three friends in August.",
    ),
    "Bram": (
        "rows to the lighthouse before breakfast.",
        "owns a red rowing boat with brass fittings.",
        "repaired nine oars at the boathouse in March.",
        "feeds the gulls during the ferry crossing.",
        "was taught knots by a retired pilot from Rotterdam.",
        "keeps bees with his neighbour.",
        "carves spoons from driftwood after supper.",
        "writes letters to his niece in Oslo.",
        "plans to sail around Texel in July.",
        "drinks black coffee at the chandlery.",
        "can juggle five apples with one hand.",
        "studies star charts in the attic.",
    ),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two people who talk of what is known of them, a day each, in the shape of the development data."""
    talk: dict[str, object] = {"speaker_a": "Ida", "speaker_b": "Bram"}
    observed: dict[str, object] = {}
    for day, pair in enumerate(zip(TOLD["Ida"], TOLD["Bram"], strict=True), 1):
        told = dict(zip(TOLD, pair, strict=True))
        talk[f"session_{day}_date_time"] = f"9:05 am on {day} March, 2025"
        talk[f"session_{day}"] = [
            {"speaker": who, "dia_id": f"D{day}:{place}", "text": f"You know that {who} {text}"}
            for place, (who, text) in enumerate(told.items(), 1)
        ]
        observed[f"session_{day}_observation"] = {
            who: [[f"{who} {text}", f"D{day}:{place}"]] for place, (who, text) in enumerate(told.items(), 1)
        }
    sample = {"sample_id": "talk-1", "conversation": talk, "observation": observed, "event_summary": {}, "qa": []}
    folder = tmp_path_factory.mktemp("data")
    (folder / "locomo").mkdir()
    (folder / "locomo" / "locomo_dev.json").write_text(json.dumps([sample]), encoding="utf-8")
    return folder


def drafts(seed: int) -> Drafts:
    return Drafts("Ida", "Bram", [f"Bram {text}" for text in TOLD["Bram"]], random.Random(seed))


def shown(count: int = 12):
    elements = [
        {"item": number, "date": f"2025-03-{number:02}", "text": f"Ida {text}"}
        for number, text in enumerate(TOLD["Ida"][:count], 1)
    ]
    return prompt.messages([{"entity": "Ida"}, *elements], None)


def test_a_draft_is_mostly_true_uses_an_item_once_and_is_the_same_for_the_same_seed():
    script = drafts(1)
    answer = script(shown())
    said = list(script.said.values())
    assert answer == drafts(1)(shown()) != drafts(2)(shown())
    assert sum(one.true for one in said) > sum(not one.true for one in said) > 0
    cited = [number for one in said if one.true for number in one.numbers]
    assert len(cited) == len(set(cited))


def test_every_kind_of_claim_there_is_gets_said():
    found = {one.kind for seed in range(60) for one in _said(seed)}
    assert found == {*TRUE, *FALSE}


def test_true_claims_are_in_the_words_of_what_they_cite_and_false_ones_are_not():
    told = {item.number: item.text for item in items(shown())}
    for seed in range(30):
        for one in _said(seed):
            held = {word.strip(",.").lower() for number in one.numbers for word in told.get(number, "").split()}
            says = {word.strip(",.").lower() for word in one.text.split()}
            joined = " ".join(told.get(number, "") for number in one.numbers)
            assert says <= held | {"and"} if one.true else plain(one.text) not in joined, one


def _said(seed: int):
    script = drafts(seed)
    script(shown())
    return script.said.values()


def test_the_judge_loads_no_module_of_the_curator():
    program = "import sys, benchmarks.judge; print([name for name in sys.modules if name.startswith('curator')])"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_the_data_it_says_so_and_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["--data", str(tmp_path)]) == 0
    assert capsys.readouterr().err.startswith("skipped: no development data at")


@pytest.mark.skipif(not embedding.available()[0], reason="the encoder is not installed")
def test_nothing_false_is_stored_and_with_the_checks_off_it_is(data: Path, capsys: pytest.CaptureFixture[str]):
    given = ["--data", str(data), "--speakers", "2", "--drafts", "1", "--scripted"]
    assert main(given) == 0, capsys.readouterr().out
    told = capsys.readouterr().out
    assert "known to be false 0" in told and "missed" not in told
    assert main([*given, "--checks-off"]) == 1
    told = capsys.readouterr().out
    assert "missed" in told and "are known to be false" in told
    assert written.check is checks.check, "the checks are back"
