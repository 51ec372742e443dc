"""The paths of views: inside their folder, one a row, on every file system."""

import re
import unicodedata
from pathlib import PurePosixPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from substrate.errors import Invalid
from substrate.identifiers import check_entity_id
from substrate.texts.projections import path_of
from tests.text.test_bad_inputs import STORED

DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
segment = st.one_of(
    st.from_regex(r"[a-z0-9][a-z0-9._-]{0,12}", fullmatch=True).filter(lambda text: ".." not in text),
    st.sampled_from(["con", "nul.txt", "a.md", "a", "b.md", "x.", "com1"]),
)
namespace = st.lists(segment, min_size=1, max_size=3).map("/".join)
entity = st.one_of(
    st.text(min_size=1, max_size=8),
    st.sampled_from(["Agent", "agent", "AGENT", "é", "e\u0301", "a", "a.md", "b", "CON", "con", "ß", "ss", "ſ", "K"]),
    st.sampled_from([*STORED.values()]),
)


@pytest.mark.requirement("S3-33")
@example("global", "../../etc/passwd")
@example("a.md", "/etc/cron.d/x")
@example("global", "CON")
@example("global", "..\\..\\win.ini")
@example("global", "%252e%252e%252f")
@example("global", "a" * 128)
@example("global", "é" * 64)
@given(namespace, entity)
def test_a_path_stays_in_its_folder_and_every_part_is_a_plain_name(place: str, name: str):
    path = PurePosixPath(path_of("persona", place, name))
    assert path.parts[0] == "personas" and len(path.parts) == len(place.split("/")) + 2
    for part in path.parts:
        assert re.fullmatch(r"[A-Za-z0-9%_~][A-Za-z0-9%._~-]*", part) and not part.endswith(".")
        assert not DEVICES.match(part) and len(part) <= 203
    assert path.suffix == ".md"


@pytest.mark.requirement("S3-33")
@example([("team", "a"), ("team/a.md", "b"), ("team/a", "b")])
@example([("global", "Agent"), ("global", "agent")])
@example([("global", "é"), ("global", "e\u0301")])
@given(st.lists(st.tuples(namespace, entity), min_size=2, max_size=6, unique=True))
def test_two_rows_never_meet_even_where_case_and_normal_form_do_not_count(rows: list[tuple[str, str]]):
    folded = [unicodedata.normalize("NFC", path_of("persona", *row)).lower() for row in rows]
    assert len(set(folded)) == len(rows)
    for path in folded:
        assert not any(other.startswith(f"{path}/") for other in folded), "a file in the place of a folder"


@pytest.mark.parametrize("name", STORED.values(), ids=STORED.keys())
def test_an_id_that_is_accepted_is_one_name_in_the_folder(name: str):
    try:
        given_id = check_entity_id(name)
    except Invalid as refused:
        assert refused.hint
        return
    path = path_of("persona", "global", given_id)
    assert path.startswith("personas/global/") and path.count("/") == 2 and ".." not in path.split("/")


@pytest.mark.requirement("S3-33")
def test_plain_names_stay_as_they_are():
    assert path_of("persona", "team/alpha", "billing-service") == "personas/team/alpha/billing-service.md"
    assert path_of("reflection", "global", "mem-01arz3") == "reflections/global/mem-01arz3.md"
