"""Draw rows of every kind, with every value their columns allow."""

import re
from typing import Any

from hypothesis import strategies as st

from substrate.store import schema
from substrate.store.model import Row

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    ["", "'", '"', "\\", "\0", "1:a", "\U0001f600", "é", "é", "NULL", "true", "'; DROP TABLE memories; --"]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(text, json_values, max_size=3)

# The values a CHECK allows, by table and column, as the schema writes them.
ALLOWED = {
    (table, column): re.findall(r"'(\w+)'", values)
    for table, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\);", schema.MIGRATIONS[0], re.DOTALL)
    for column, values in re.findall(r"(\w+) TEXT[^,]*?CHECK \(\w+ IN\s*\(([^)]*)\)", body)
}


def value(kind: type[Row], column: str) -> st.SearchStrategy[Any]:
    annotation = str(kind.__annotations__[column])
    if (kind.TABLE, column) in ALLOWED:
        drawn: st.SearchStrategy[Any] = st.sampled_from(ALLOWED[kind.TABLE, column])
    elif annotation.startswith("int"):
        drawn = st.integers(-(2**63), 2**63 - 1)
    elif annotation.startswith("bool"):
        drawn = st.booleans()
    elif annotation.startswith("tuple[Json"):
        drawn = st.lists(objects, max_size=2).map(tuple)
    elif annotation.startswith("tuple"):
        drawn = st.lists(text, max_size=3).map(tuple)
    elif annotation.startswith("Json"):
        drawn = objects
    else:
        drawn = text
    return st.none() | drawn if annotation.endswith("| None") else drawn


def rows(kind: type[Row]) -> st.SearchStrategy[Any]:
    return st.builds(kind, **{column: value(kind, column) for column in kind.columns()})
