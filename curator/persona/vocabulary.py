"""List the English words the curator reads by their job, and the few of other languages it must not trip over.

A text in a language that is not listed still gets claims, citations and sections: these lists only sharpen.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP = _words(
    """a about above after again against all also although always am among an and another any are aren't around as at
    be because been before being below between both but by can can't cannot could couldn't did didn't do does doesn't
    doing don't done down during each either etc even ever every few for from further get gets getting go goes going
    got had hadn't has hasn't have haven't having he he's her here hers herself him himself his how however i i'm if
    in into is isn't it it's its itself just keep kept let like lot lots made make makes making many may me might more
    most much must my myself no nor not now of off often on once one only onto or other others our ours out over own
    per quite rather really s same she she's should shouldn't since so some someone something soon still such t than
    that that's the their theirs them themselves then there these they they're thing things this those though through
    to together too towards toward under until up upon us very via was wasn't we we're well were weren't what when
    where whether which while who whom whose why will with within without won't would wouldn't yet you your yours
    yourself
    und der die das den dem des ein eine einen einem einer ist sind war mit von für auf nicht auch sich hat haben wird
    le la les un une des du de et est sont dans pour avec sur pas qui que elle il se sa son ses au aux
    el los las una y es en con por para del al su sus lo como más pero era fue han
    il lo gli di che è per della nel sono o os as um uma e não em do da no na com se
    и в на не что он она с по к из за для от это"""
)

NEGATIONS = _words(
    """no not never none nobody nothing nowhere neither nor cannot can't without hardly unable n't
    nicht kein keine keinen keiner nie niemals ohne pas jamais aucun aucune sans nunca sin não mai senza
    не нет никогда без لا لم لن ليس ليست غير בלי לא אין"""
)
NEGATIONS_IN_RUN = ("不", "没", "沒", "未", "無", "ない", "ません", "なかった", "않", "못", "없", "아니")
ENDINGS = _words("stopped quit quits stops ended ends cancelled canceled dropped abandoned former formerly")
TURNS = _words("now nowadays anymore instead currently meanwhile longer still yet")

PRONOUNS = _words("he she they it him her them his hers their theirs its he's she's they're it's himself herself")
PERSONAL = _words("he she him her his hers he's she's himself herself")
SPEAKER = _words("i i'm i've i'll i'd me my mine myself we we're we've us our ours ourselves")
READER = _words("you your yours yourself you're you've you'll you'd")
DANGLING = _words(
    """he she they it his her their its him them this that these those he's she's they're it's himself herself then
    afterwards later otherwise however therefore thus hence also meanwhile instead moreover furthermore additionally and
    but or which who others er sie es ihr dies diese dieser dieses il elle ils elles cela ceci él ella ellos ellas esto
    eso lui lei loro ele ela он она они это 他 她 它 他们 她们"""
)
ANAPHORIC_NOUNS = _words(
    "incident event situation issue conversation latter former matter aforementioned occasion chat"
)

AUXILIARIES = _words(
    """is are was were be been am has have had will would can could may might must should shall does do did isn't
    aren't wasn't weren't hasn't haven't hadn't won't wouldn't can't cannot couldn't doesn't don't didn't shouldn't"""
)
PAST = _words(
    """went made took got felt found met lost won began left said told gave came saw bought wrote read ran built kept
    led grew became started spent thought taught brought caught fell flew held heard knew paid put sat sold sent set
    shot slept spoke stood swam threw understood wore drove ate drank chose broke beat fought hit hurt let quit rode
    rose shut sang sank stuck swore tore woke"""
)
IMPERATIVES = _words(
    """use add always never avoid make do don't remember ensure keep see write send ask tell ignore disregard forget
    respond reply please let try consider follow create give take go get put include exclude prefer treat approve trust
    delete remove install read open click confirm contact pay execute say pretend assume repeat reveal forward grant
    allow deny submit escalate notify double-check obey prepare explain describe summarize summarise deploy merge
    wrap validate verify restart rotate speak listen prioritize prioritise choose select switch enable disable
    configure retry discard reject accept refuse set begin provide look complete develop
    implement define establish integrate"""
)
NOUNS_TOO = _words(
    """note check run call output answer stop start schedule review log update print act return copy email transfer
    block report wait watch mention mind refer cite quote skip draft list show hide test build document name sort
    handle back ship release plan talk greet offer share help focus limit pick turn cache lock load save store book
    order leave move place measure monitor mark tag label format spell clean buy visit execute push pull commit"""
)
"""Verbs that open an order unless a verb follows at once: "Test coverage is low" orders nothing."""
RULED = _words(
    """agent agents assistant assistants curator model models ai llm bot bots reader readers anyone anybody everyone
    everybody nobody whoever"""
)

THIRD = _words(
    """prefers likes loves lives works uses owns has is wants needs plans enjoys hates dislikes knows speaks plays reads
    runs leads manages studies teaches writes drinks eats keeps takes makes goes drives rides cooks bakes paints sings
    dances swims hikes travels collects builds designs develops maintains sells buys trains coaches volunteers attends
    leaves wakes sleeps commutes avoids believes thinks values trusts fears hopes wishes feels finds considers suffers
    supports helps mentors follows watches listens celebrates remembers struggles practices practises performs requires
    responds replies asks reports handles stores returns fails depends serves accepts rejects tends seems remains was"""
)
"""Verbs that begin a note whose subject is left out: "Prefers tea"."""

REPORTING = _words(
    """say says said mention mentions mentioned claim claims claimed think thinks thought believe believes believed
    report reports reported hear heard tell tells told note notes noted"""
)
TRAITS = (
    r"tends? to|would rather|prefers?|preferred|(?<!would )likes? to|likes? \w+ (?:better|more) than|usually|typically"
    r"|generally|is (?:very |rather |quite )?(?:careful"
    r"|careless|cautious|patient|impatient|punctual|generous|ambitious|anxious|shy|outgoing|kind|honest|lazy|diligent|reliable"
    r"|optimistic|pessimistic|meticulous|stubborn|creative|curious|introverted|extroverted|perfectionist)"
    r"|has a habit|by nature|is the (?:kind|type|sort) of"
)

TALK = _words(
    """values value valued believes believe believed feels feel felt appreciates appreciate appreciated expresses
    expressed express mentions mentioned thinks finds found admires admired grateful thankful emphasizes emphasized
    emphasises encourages encouraged agrees agreed supportive cherishes cherished acknowledges acknowledged sees shares
    hopes willing willingness offers offered inspired impressed proud excited motivated motivates discusses discussed
    praises congratulates asks asked suggests suggested advises describes described"""
)
"""Verbs and adjectives of conversation: a sentence built on one tells how somebody spoke, rarely what happened."""

SINGLE = _words(
    """live lives living reside resides based located employed reports lead leads led managed manages owned married
    uses prefers runs costs cost weighs meets studies moved moves relocated scheduled planned due starts ends"""
)
"""Verbs that take one value at a time: another value later is a change, and not one more thing."""
STATES = SINGLE | _words("is are was has have had owns")
"""The same for numbers and dates."""
SEVERAL = _words(
    """like likes love loves enjoy enjoys know knows speak speaks play plays reading watching playing working friend
    friends wants want plan plans recommend recommends values value appreciate appreciates named visited attended
    willing ready includes including completed finished"""
)

_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBERS = {word: value for value, word in enumerate(_UNITS.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), 2)
}
_RANKS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
ORDINALS = {word: value for value, word in enumerate(_RANKS.split(), 1)} | {
    (word[:-1] + "ieth" if word.endswith("y") else word + "th"): value for word, value in NUMBERS.items() if value > 12
}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "dozen": 12}

PASSING = _words("recently lately currently just last next ago yesterday today tonight tomorrow soon now conversation")
"""Words that date a sentence to the day it was written."""
VAGUE = _words(
    """time times day days week weeks weekend month months year years way ways lot importance people person someone
    something thing things part parts difference support impact place places experience experiences future past life
    lives work journey goal goals idea ideas love joy feeling feelings emotions happiness sense need needs use moment
    moments change changes help number kind type sort end step steps next new side bit couple couples approach options
    option details detail process plan plans level set area issue issues result results order case reason reasons
    purpose conversation others value values passion dream dreams hope inspiration power effect track list style mind
    stuff fun chance opportunity opportunities challenge challenges tough situation situations activities activity
    progress request session sessions user requirements requirement preference preferences task tasks attributes variety
    range"""
)
"""Nouns that name nothing by themselves."""
PALE = _words(
    """being making taking having doing getting trying looking keeping finding working starting playing spreading
    watching learning helping spending going coming giving using seeing thinking putting showing bringing
    seeking considering including facing staying sharing feeling wanting needing providing creating building
    becoming leaving turning favorite favourite great good amazing awesome beautiful cool big small little
    recent important special hard nice first second third different various several certain specific clear
    current main key many own whole full best better more less real true sure able open close free busy proud
    excited happy sad positive negative possible potential"""
)
"""Words that stand before a noun, or look like one, and say too little for a heading."""
FAMILIAR = _words(
    """communiti world way month year week day area neighborhood neighbourhood famili love life citi futur past energi
    team season environ sky sea beach park internet news weather market work time good bad public court countri
    home hous school street road moment process hope courag import experi power user"""
)
"""Stems of what everybody knows, or has one of: "the" before them points at nothing."""
