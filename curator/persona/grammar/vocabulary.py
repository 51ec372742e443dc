"""List English words by what they do in a sentence, for `tokens`, `clauses` and `alignment`."""

from curator.persona.vocabulary import PRONOUNS, READER, SPEAKER


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DETERMINERS = _words(
    """a an the this that these those my your his her its our their some any each every all another no several many few
    both either such"""
)
PRONOUNS_ALL = PRONOUNS.union(SPEAKER, READER) | _words(
    """me someone somebody everyone everybody anyone anybody everything anything something whatever whoever themselves
    there"""
)
RELATIVES = _words("who whom whose which that where")
CONJUNCTIONS = _words("and or but nor")
SUBORDINATORS = _words(
    "because although though while whereas since if when whenever once as after before until unless so whether than"
)
PREPOSITIONS = _words(
    """about above across against along among around at behind below beneath beside besides between beyond by despite
    down during except for from in inside into like near of off on onto out outside over per round through throughout to
    toward towards under up upon via with within without till versus because"""
)
PARTICLES = _words("up down out off over away back on in through together along around after for into")
ADVERBS = _words(
    """also now then already still yet always often sometimes usually ever just even quite rather really too very
    almost nearly about currently nowadays soon again away back together instead here there so only himself herself
    itself themselves all meanwhile however moreover therefore otherwise nevertheless"""
)
BE = _words("is are was were be been being am")
TITLES = _words("mr mrs ms miss dr prof madame monsieur sir lady lord")
DENYING_VERBS = _words("stop quit cease refuse decline avoid fail refrain abstain forget neglect shun")
SHUNNING = _words("avoid quit shun")
"""Those that deny a thing as well as an act: "avoids lifts"."""
WISHES = _words("want plan hope intend wish dream consider think aim mean intention allow permit")
LIGHT = _words(
    """be being have do get go keep make let become come arrive hold exist appear seem happen consist contain include
    comprise spend suffer own other same such more most less least much far long since ago way thing lot kind
    sort bit time age aged co addition how what why whether able moment unlike else named called name titled"""
)
"""Words of content that a claim may add to what its sources say: they state nothing by themselves."""
LOSSES = _words("sell lose return miss need want seek lack wish give_away give_back part_with get_rid")
"""Verbs whose object is not there: who sold a van has none."""
CONVERSE = frozenset(
    {
        ("teach", "learn"),
        ("lend", "borrow"),
        ("buy", "sell"),
        ("give", "receive"),
        ("give", "get"),
        ("give", "take"),
        ("inherit", "leave"),
        ("inherit", "bequeath"),
        ("send", "receive"),
        ("take_over", "hand_over"),
        ("like", "please"),
    }
)
"""Verbs that tell the same from either end: who does the one suffers the other."""
KIN = tuple(
    (_words(one), _words(other))
    for one, other in (
        ("mother father parent mum dad", "son daughter child kid"),
        ("aunt uncle", "nephew niece"),
        ("grandmother grandfather grandparent grandma grandpa", "grandson granddaughter grandchild"),
        ("godmother godfather godparent", "godson goddaughter godchild"),
        ("brother sister sibling", "brother sister sibling"),
        ("husband wife spouse", "husband wife spouse"),
        ("teacher tutor", "pupil student"),
        ("landlord landlady", "tenant lodger"),
        ("mentor", "apprentice"),
    )
)
"""Nouns for the two ends of one relation: whose aunt she is, is her nephew or niece."""

UNITS = _words(
    """second minute hour day night week weekend fortnight month year decade century kilometre kilometer metre meter
    mile centimetre millimetre foot inch hectare acre litre liter kilo kilogram gram ton tonne pound euro dollar yen
    franc cent percent degree word page time"""
)
"""What a number may be of without counting things."""
SWEEPING = _words(
    """always only all solely exclusively entirely every whole each whenever constantly never any none no nothing nobody
    everything everyone everybody whatever just alone but entire without sole throughout both"""
)
"""Words that make a sentence hold always or of all."""
SINGLE = _words("a an one single another only sole the each every own once")
ENDINGS = (
    *("ational", "ically", "ations", "ation", "atic", "ities", "ments", "ment", "ness", "ists", "ist", "ians", "ian"),
    *("ical", "ics", "tic", "ic", "ity", "ous", "ers", "ors", "er", "or", "al", "ary", "ies", "ed", "ing", "es"),
    *("o", "s", "y", "a", "e"),
)
"""What makes one part of speech of another, the longest first."""
REPORTED = _words("say tell mention report think believe know note")
"""Verbs that only say who said it."""
GENERAL = _words(
    """take give put bring carry hold run show see say tell think call use serve set stand sit lie look feel find reach
    turn spend pay report write receive perform provide case member part matter subject place area amount people person
    man woman group opinion order way"""
)
"""Words that say little more than the words around them do."""
VAST = _words(
    """act activity action event state thing object entity artifact whole unit attribute change move make group measure
    be have do get go cause quality property condition relation part abstraction substance matter being affair process
    person individual someone somebody mortal soul give put take travel create time quantity amount instrumentality
    instrumentation content message communication knowledge cognition area place region point way status"""
)
"""Kinds so wide that two words of one do not exclude each other."""
