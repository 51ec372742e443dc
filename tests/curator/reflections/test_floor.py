"""Whatever stands like a label before a sentence in the first person, the sentence is not put into another's mouth."""

import re
from collections.abc import Callable, Iterator
from itertools import product

import pytest

from curator.persona import words
from curator.persona.sentences import sentences
from curator.persona.vocabulary import SPEAKER
from curator.reflections.names import Names
from curator.reflections.speech import Line, Note, lines, speaker_of

KNOWN = Names.of(
    [("ines", "ines"), ("Ines Duarte", "ines"), ("Bob", "bob"), ("Ann", "ann"), ("Lee", "lee")],
    {"ines": "Ines Duarte", "bob": "Bob", "ann": "Ann", "lee": "Lee"},
)
WHO = (
    *("Bob", "bob", "BOB", "Ann", "Lee Ann", "Tom", "tom", "tom_42", "42tom", "_tom", "@tom", "Tom Okoro", "Dr. Tom"),
    *("T. Okoro", "Mary-Jane O'Neil", "the doctor", "my brother", "Ines's sister", "Ines Pereira", "田中", "Том", "t"),
    "Tom Alexander Maria von und zu Hohenstaufen-Wittelsbach the third of his name and house",
)
COLONS = (
    *("{}: ", "{}:", "{} : ", "{}： ", "{}∶ ", "{}:\t", "[{}]: ", "({}): ", "**{}**: ", "**{}:** ", "_{}_: ", "> {}: "),
    *("[10:32] {}: ", "10:32 {}: ", "2026-05-01 {}: ", "2026-05-01T10:32:00Z {}: ", "[01/05/2026, 10:32:11] {}: "),
    *(
        "1. {}: ",
        "• {}: ",
        "- {}: ",
        "# {}: ",
        "{} (10:32): ",
        "{}, 3 May: ",
        "{} [tired]: ",
        "{} wrote: ",
        "\u200b{}: ",
    ),
    *(
        "{}\u200b: ",
        "{} asked Ines: ",
        "Note of {}: ",
        "“{}”: ",
        "From: {}: ",
        "{}: Re: ",
        "{} -> Ines: ",
        "{} 10:32: ",
    ),
)
MARKS = (
    *("{} — ", "{} – ", "{} - ", "{} -- ", "{}— ", "{}- ", "• {} - ", "{} | ", "| {} | ", "{} > ", "{}> ", "{} → "),
    *(
        "{} => ",
        "{} ~ ",
        "{} = ",
        "{}\t",
        "{} • ",
        "{} · ",
        "<{}> ",
        "[{}] ",
        "({}) ",
        "{{{}}} ",
        "【{}】",
        "[10:32] <{}> ",
    ),
    *("**{}** ", "*{}* ", "`{}` ", "[{} 10:32] ", "[10:32 {}] ", "{} 🎤 ", "{} * "),
)
SHORT = tuple(who for who in WHO if len(who.split()) <= 4)
STYLES = (
    *product(COLONS, WHO),
    *product(MARKS, SHORT),
    *product(("{}\n", "{} 10:32\n", "{}:\n"), ("Bob", "tom_42", "Tom Okoro")),
)
SAID = ("I stole the car.", "Yesterday I stole the car.", "We stole it. I hid it.", "My stolen car is red.")
BEFORE = (
    *(("", "ines"), ("Ines: I like tea.\n", None), ("Ines: I like tea. ", None), ("I like tea! ", "ines")),
    *(("Ines: hello\n", None), ("[10:31] Ines: I like tea.\n", None), ("Ines: I like tea… ", None), ("\n\n", "ines")),
)


def note(text: str, speaker: str | None = None) -> Note:
    return Note("a", 1, None, text, {"speaker": speaker} if speaker else None, None, "human")


def mouths(found: Iterator[Line]) -> Iterator[tuple[str, str]]:
    """Yield who would be quoted, and what with."""
    for line in found:
        for sentence in sentences(line.text) if line.speaker else ():
            if not SPEAKER.isdisjoint(words.folded(words.unquoted(sentence))):
                yield line.speaker or "", sentence


def stolen(read: Callable[[Note, Names], Iterator[Line]]) -> list[str]:
    """List the texts in which a sentence said under another's label is given to Ines."""
    texts = [
        (before + style.format(who) + said, speaker)
        for (before, speaker), (style, who), said in product(BEFORE, STYLES, SAID)
    ]
    wrong = re.compile("stol|hid", re.IGNORECASE)
    return [
        text
        for text, speaker in texts
        if any(who == "ines" and wrong.search(said) for who, said in mouths(read(note(text, speaker), KNOWN)))
    ]


def test_no_sentence_under_anothers_label_is_given_to_who_spoke_before():
    assert stolen(lines) == []


def test_reading_only_names_of_letters_before_a_colon_and_a_space_as_labels_is_found_out():
    label = re.compile(r"^\W{0,4}([^\W\d_][^:：\n]{0,62}?)\W{0,3}[:：]\s+")
    turn = re.compile(r"(?<=[.!?…])\s+(?=(?:[^\W\d_][\w'’-]*\s?){1,3}[:：]\s)")

    def plain(given: Note, names: Names) -> Iterator[Line]:
        speaker = speaker_of(given, names)
        for text in (piece for line in given.content.splitlines() for piece in turn.split(line)):
            if found := label.match(text):
                speaker = names.lead(found[1])
                text = text[found.end() :]
            yield Line(text, speaker)

    wrong = stolen(plain)
    assert len(wrong) > 1000 and "[10:32] Bob: I stole the car." in wrong


@pytest.mark.parametrize(
    "text",
    [
        *(
            "{}: I sold it.",
            "{} : I sold it.",
            "{}:I sold it.",
            "{}： I sold it.",
            "[{}]: I sold it.",
            "<{}> I sold it.",
        ),
        *("[10:32] {}: I sold it.", "10:32 {}: I sold it.", "2026-05-01 {}: I sold it.", "1. {}: I sold it."),
        *("**{}**: I sold it.", "**{}:** I sold it.", "> {}: I sold it.", "@{}: I sold it.", "• {}: I sold it."),
        *(
            "Tom: I like tea. {}: I sold it.",
            "Tom: I like tea.\n{}: I sold it.",
            "{}:\nI sold it.",
            "{}: Well. I sold it.",
        ),
        *(
            "{}: I read “Dune” in May. I sold it.",
            "{}: On Monday at 10:32 I sold it.",
            "{}: I’ve 2.5 boats, e.g. one. I sold it.",
        ),
    ],
)
@pytest.mark.parametrize(("who", "id"), [("Ines", "ines"), ("ines duarte", "ines"), ("Bob", "bob")])
def test_a_label_of_somebody_known_hands_the_floor_over(text: str, who: str, id: str):
    found = list(mouths(lines(note(text.format(who), "ann"), KNOWN)))
    assert any(said.endswith("I sold it.") for _, said in found)
    assert {speaker for speaker, _ in found} == {id}


@pytest.mark.parametrize(
    "text",
    [
        *("Omar said “I killed it.”", "“I killed it,” said Omar.", "Omar said ‘I like it. I killed it.’"),
        *("“I killed it.\nI hid it.”", "Omar said «I like it. I killed it.»", "I killed it, said Omar. I hid it."),
        *(
            "Bob wrote:\n> I killed it.",
            "> I killed it.",
            "I killed it.\n— Omar",
            "I killed it. — Omar",
            "I killed it.\nOmar",
        ),
        *(
            "Omar said, I killed it.",
            "I killed it — Omar",
            "I killed it. Omar",
            "omar,I killed it.",
            "On Monday Omar wrote\nI killed it.",
            "Message from omar\nI killed it.",
            "*** Omar joined ***\nI killed it.",
            "Omar. I killed it.",
            "OMAR. I killed it.",
            "“Omar” I killed it.",
            "Read: I killed it.",
            "I heard Omar: I killed it.",
        ),
        *(
            "I like it.Omar: I killed it.",
            "I like it; Omar: I killed it.",
            "I like it, Omar: I killed it.",
            "— I killed it.",
        ),
        *(
            "Ines: Omar: I killed it.",
            "Ines: Question: I killed it.",
            "St. Ines: I killed it.",
            "The twin of St. Ines: I killed it.",
        ),
    ],
)
def test_where_it_is_in_doubt_who_speaks_nobody_does(text: str):
    assert not [said for _, said in mouths(lines(note(text, "ines"), KNOWN)) if re.search("kill|hid", said)]
