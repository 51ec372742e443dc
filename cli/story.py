"""The story the demo tells: three weeks of a small team, two agents and a person; invented."""

from __future__ import annotations

from dataclasses import dataclass

START = "2026-03-02T08:30:00.000000Z"
PERSON, AGENTS = "mara", ("probe", "scribe")


@dataclass(frozen=True)
class Seen:
    """Something observed: on which day of the story, by whom."""

    key: str
    day: int
    by: str
    text: str


@dataclass(frozen=True)
class Thought:
    """A reflection over things seen, about Mara."""

    key: str
    day: int
    by: str
    title: str
    text: str
    rests_on: tuple[str, ...]


OBSERVED = (
    Seen("ferry", 0, "mara", "I take the 7:40 ferry, so I am at my desk before nine."),
    Seen("standup", 0, "scribe", "Mara asked to move the stand-up from 9:00 to 9:30."),
    Seen("sqlite", 1, "mara", "For the tide tables I want SQLite; one file we can copy beats a server."),
    Seen("schema", 1, "probe", "Mara drew the tide schema on paper first and photographed it for the repository."),
    Seen("tests-first", 2, "probe", "Mara sent the harbour parser back because it came without a failing test."),
    Seen("names", 2, "mara", "Please call the stations by their harbour code and never by a number."),
    Seen("concert", 3, "scribe", "Mara plays viola in the harbour orchestra and left at four for a rehearsal."),
    Seen("interview", 4, "scribe", "Mara mentioned in confidence that she has an interview at the port authority."),
    Seen("review", 4, "probe", "Mara reviewed all five open branches before lunch and left comments on each."),
    Seen("import", 7, "probe", "The import of the 1998 tide archive took 41 minutes with one row a transaction."),
    Seen("batch", 7, "mara", "Batch the archive in blocks of 500 rows and measure again."),
    Seen("batch-result", 8, "probe", "With blocks of 500 rows the archive import took 3 minutes."),
    Seen("server", 9, "mara", "Three stations write at once now; I have changed my mind, we go to PostgreSQL."),
    Seen("tram", 10, "mara", "The ferry is in the dock until April; I come by tram and start at ten."),
    Seen("lunch", 10, "scribe", "Mara brought seaweed soup for everyone and wrote down the recipe."),
    Seen("pairing", 11, "probe", "Mara paired with Oskar for two hours on the storm-surge alarm."),
    Seen("alarm", 11, "mara", "The surge alarm must never page anyone twice for the same wave."),
    Seen("release", 14, "scribe", "Mara cut release 0.4 on Monday and wrote the notes herself."),
    Seen("rollback", 15, "probe", "Release 0.4 doubled the alarm; Mara rolled it back within 12 minutes."),
    Seen("postmortem", 16, "mara", "My mistake: I trusted a green run on a machine whose clock stood still."),
    Seen("clock-rule", 16, "mara", "From today every alarm test injects its clock."),
    Seen("viola", 17, "scribe", "Mara played the solo in the spring concert and the team sat in row two."),
    Seen("coffee", 18, "scribe", "Mara said she gave up coffee in February and drinks mint tea."),
    Seen("coffee-order", 19, "probe", "The office order of Mara for this week lists two bags of espresso beans."),
)

REFLECTED = (
    Thought(
        "r-desk",
        1,
        "scribe",
        "Mornings",
        "Mara starts before nine because she takes the early ferry.",
        ("ferry", "standup"),
    ),
    Thought(
        "r-store",
        2,
        "probe",
        "Storage",
        "Mara chose SQLite for the tide tables because one file can be copied.",
        ("sqlite",),
    ),
    Thought("r-paper", 2, "probe", "Design", "Mara draws a schema on paper before any of it is typed.", ("schema",)),
    Thought(
        "r-tests", 3, "probe", "Tests", "Mara sends work back when it comes without a failing test.", ("tests-first",)
    ),
    Thought(
        "r-names", 3, "probe", "Names", "Mara names stations by their harbour code and never by a number.", ("names",)
    ),
    Thought("r-viola", 4, "scribe", "Music", "Mara plays viola in the harbour orchestra.", ("concert",)),
    Thought("r-leaving", 5, "scribe", "Plans", "Mara has an interview at the port authority.", ("interview",)),
    Thought(
        "r-review",
        5,
        "probe",
        "Reviews",
        "Mara reviews every open branch before lunch and comments on each.",
        ("review",),
    ),
    Thought(
        "r-batch",
        8,
        "probe",
        "Speed",
        "Mara had the archive import batched in blocks of 500 rows, which cut it from 41 minutes to 3.",
        ("import", "batch", "batch-result"),
    ),
    Thought(
        "r-server",
        10,
        "probe",
        "Storage",
        "Mara moved the tide tables from SQLite to PostgreSQL because three stations write at once.",
        ("server", "sqlite"),
    ),
    Thought(
        "r-tram",
        11,
        "scribe",
        "Mornings",
        "Mara now starts at ten because the ferry is in the dock until April.",
        ("tram",),
    ),
    Thought("r-soup", 11, "scribe", "Team", "Mara cooks for the team and shares the recipe.", ("lunch",)),
    Thought(
        "r-pair", 12, "probe", "Team", "Mara paired with Oskar for two hours on the storm-surge alarm.", ("pairing",)
    ),
    Thought(
        "r-alarm",
        12,
        "probe",
        "Alarm",
        "Mara wants the surge alarm never to page anyone twice for the same wave.",
        ("alarm",),
    ),
    Thought(
        "r-rollback",
        16,
        "probe",
        "Releases",
        "Mara rolled release 0.4 back within 12 minutes when it doubled the alarm.",
        ("release", "rollback"),
    ),
    Thought(
        "r-clock",
        17,
        "probe",
        "Tests",
        "Mara has every alarm test inject its clock since release 0.4 failed.",
        ("postmortem", "clock-rule"),
    ),
    Thought("r-solo", 18, "scribe", "Music", "Mara played the viola solo in the spring concert.", ("viola",)),
    Thought("r-tea", 19, "scribe", "Kitchen", "Mara gave up coffee in February and drinks mint tea.", ("coffee",)),
    Thought("r-beans", 20, "probe", "Kitchen", "Mara ordered two bags of espresso beans this week.", ("coffee-order",)),
)

REPLACES = (("r-server", "r-store"), ("r-tram", "r-desk"))
CONTRADICTS = (("r-beans", "r-tea"),)
SECRET = "interview"
FIRST_PERSONA_DAY = 13
QUESTION = "why did the team leave SQLite"
