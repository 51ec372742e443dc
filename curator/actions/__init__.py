"""Actions that the curator composes: reflect, forget, everything about personas, and what runs by itself.

Importing this registers them. Source: docs/spec/model.md §5.
"""

from curator.actions.jobs import tick, waiting, work
from curator.actions.memories import forget, reflect
from curator.actions.personas import (
    embedder,
    no_persona,
    persona,
    persona_diff,
    persona_generate,
    persona_history,
    persona_pin,
    persona_verify,
    persona_why,
)
from curator.actions.reflections import distil

__all__ = [
    "distil",
    "embedder",
    "forget",
    "no_persona",
    "persona",
    "persona_diff",
    "persona_generate",
    "persona_history",
    "persona_pin",
    "persona_verify",
    "persona_why",
    "reflect",
    "tick",
    "waiting",
    "work",
]
