"""List the rules: what credentials look like, as data.

Every repeat is bounded, and none stands inside another that varies, so one attempt to match costs a bounded number
of steps and the whole scan is linear in the text.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from substrate.secrets import CREDENTIAL, PII, values

REACH = 80  # characters after an introducing word in which its secret is looked for
_STOP = re.compile(r"\n|(?<=[.!?])\s")


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to recognise a secret.

    The secret is the group `value` of the pattern, else the whole match; `holds` decides on it alone. With `then`,
    the pattern is only the word that introduces a secret, and `then` finds the secret in the rest of its sentence,
    at most `REACH` characters on and before the next such word. `near` are lower-case literals of which one must
    occur in the text, or nothing.
    """

    name: str
    description: str
    pattern: re.Pattern[str]
    holds: Callable[[str], bool]
    near: tuple[str, ...] = ()
    then: re.Pattern[str] | None = None
    kind: str = CREDENTIAL

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the half-open span of each secret in the text."""
        if self.then is None:
            for match in self.pattern.finditer(text):
                yield from self._span(match, 0)
            return
        words = list(self.pattern.finditer(text))
        ends = [word.start() for word in words] + [len(text)]
        for word, end in zip(words, ends[1:], strict=True):  # what follows the next word is the next word's
            rest = text[word.end() : min(end, word.end() + REACH)]
            if stop := _STOP.search(rest):
                rest = rest[: stop.start()]
            for match in self.then.finditer(rest):
                yield from self._span(match, word.end())

    def _span(self, match: re.Match[str], offset: int) -> Iterator[tuple[int, int]]:
        group = "value" if "value" in match.re.groupindex else 0
        if self.holds(match[group]):
            yield match.start(group) + offset, match.end(group) + offset


def _issued(name: str, description: str, near: str, pattern: str, holds: Callable[[str], bool] = values.varied) -> Rule:
    """Make a rule for tokens that carry their issuer in their shape."""
    return Rule(name, description, re.compile(f"(?<![A-Za-z0-9])(?:{pattern})"), holds, tuple(near.lower().split()))


ISSUED = (
    _issued("aws-key-id", "AWS access key id", "AKIA ASIA ABIA ACCA", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}"),
    _issued("github", "GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _issued("github-fine", "GitHub fine-grained token", "github_pat_", r"github_pat_[A-Za-z0-9_]{60,255}"),
    _issued("gitlab", "GitLab token", "glpat- gldt- glrt- glptt- glcbt- glsoat-", r"gl[a-z]{2,5}-[\w-]{20,64}"),
    _issued("slack", "Slack token", "xox xapp-", r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{20,255}"),
    _issued(
        "slack-webhook",
        "Slack webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{20,120}",
    ),
    _issued(
        "discord-webhook", "Discord webhook", "/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{15,22}/[\w-]{40,90}"
    ),
    _issued("discord", "Discord bot token", "m n o", r"[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,45}"),
    _issued("stripe", "Stripe secret key", "sk_ rk_", r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,255}"),
    _issued("webhook-secret", "webhook signing secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,100}"),
    _issued("anthropic", "Anthropic key", "sk-ant-", r"sk-ant-[\w-]{24,200}"),
    _issued("openai", "OpenAI key", "sk-proj- sk-svcacct- sk-admin-", r"sk-(?:proj|svcacct|admin)-[\w-]{24,255}"),
    _issued("sk-key", "provider key in the form sk-…", "sk-", r"sk-(?:or-v1-)?[A-Za-z0-9]{32,128}"),
    _issued("google-api", "Google API key", "AIza", r"AIza[\w-]{35}"),
    _issued("google-oauth", "Google OAuth secret or token", "GOCSPX- ya29.", r"(?:GOCSPX-|ya29\.)[\w-]{24,255}"),
    _issued(
        "azure-storage",
        "Azure account or shared access key",
        "AccountKey= AccessKey=",
        r"(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{40,90}={0,2}",
    ),
    _issued("azure-client", "Azure client secret", "Q~", r"[\w~.-]{3}\dQ~[\w~.-]{31,36}"),
    _issued("npm", "npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _issued("pypi", "PyPI token", "pypi-", r"pypi-[\w-]{50,255}"),
    _issued("hugging-face", "Hugging Face token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,64}", values.random),
    _issued("twilio", "Twilio key", "SK", r"SK[0-9a-f]{32}"),
    _issued("sendgrid", "SendGrid key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    _issued("mailgun", "Mailgun key", "key-", r"key-[0-9a-f]{32}"),
    _issued("telegram", "Telegram bot token", ":AA", r"\d{8,10}:AA[\w-]{32,36}"),
    _issued("jwt", "signed web token", "eyJ", r"(?<![\w-])eyJ[\w-]{10,1000}\.eyJ[\w-]{10,4000}\.[\w-]{16,1000}"),
    _issued("digitalocean", "DigitalOcean token", "_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    _issued("shopify", "Shopify token", "shpat_ shpss_ shpca_ shppa_", r"shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}"),
    _issued("databricks", "Databricks token", "dapi", r"dapi[0-9a-f]{32}"),
    _issued("linear", "Linear key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _issued("notion", "Notion token", "ntn_ secret_", r"(?:ntn|secret)_[A-Za-z0-9]{40,64}"),
    _issued("docker", "Docker token", "dckr_", r"dckr_[op]at_[\w-]{20,64}"),
    _issued("vault", "Vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,255}"),
    _issued("grafana", "Grafana token", "glsa_ glc_", r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/]{32,255}"),
    _issued("postman", "Postman key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _issued("age", "age secret key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _issued("groq", "Groq key", "gsk_", r"gsk_[A-Za-z0-9]{48,64}"),
    _issued("replicate", "Replicate token", "r8_", r"r8_[A-Za-z0-9]{36,48}"),
    _issued("xai", "xAI or Perplexity key", "xai- pplx-", r"(?:xai|pplx)-[A-Za-z0-9]{40,100}"),
    _issued("terraform", "Terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,90}"),
    _issued("planetscale", "PlanetScale password", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,64}"),
    _issued("sentry", "Sentry token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_]{40,255}"),
    _issued("netlify", "Netlify or Supabase token", "nfp_ sbp_", r"(?:nfp|sbp)_[A-Za-z0-9]{36,64}"),
    _issued("doppler", "Doppler token", "dp.", r"dp\.[a-z]{2,5}\.[A-Za-z0-9]{40,44}"),
    _issued("square", "Square token", "sq0", r"sq0[a-z]{3}-[\w-]{22,60}"),
    _issued("new-relic", "New Relic key", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
    _issued("atlassian", "Atlassian token", "ATATT3 ATCTT3 ATBB", r"AT[AC]TT3[\w=-]{60,255}|ATBB[A-Za-z0-9]{32}"),
    _issued("facebook", "Facebook access token", "EAA", r"EAA[A-Za-z0-9]{60,400}"),
    _issued("fly", "Fly.io token", "fm1 fm2_", r"fm(?:1[ar]|2)_[A-Za-z0-9+/=]{60,800}"),
    _issued("heroku", "Heroku key", "HRKU-", r"HRKU-[\w-]{36,80}"),
    _issued("airtable", "Airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _issued("hubspot", "HubSpot token", "pat-", r"pat-[a-z]{2}\d-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{20,30}"),
    _issued("mailchimp", "Mailchimp key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    _issued("sendinblue", "Brevo key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _issued("dropbox", "Dropbox token", "sl.", r"sl\.[\w-]{130,400}"),
    _issued("dynatrace", "Dynatrace token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _issued("pulumi", "Pulumi token", "pul-", r"pul-[0-9a-f]{40}"),
    _issued("rubygems", "RubyGems key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _issued("clojars", "Clojars token", "CLOJARS_", r"CLOJARS_[0-9a-z]{60}"),
    _issued("sourcegraph", "Sourcegraph token", "sgp_", r"sgp_(?:[A-Za-z0-9]{5,20}_)?[0-9a-fA-F]{40}"),
    _issued("sonar", "SonarQube token", "squ_ sqp_ sqa_", r"sq[upa]_[0-9a-zA-Z]{40}"),
    _issued("openshift", "OpenShift token", "sha256~", r"sha256~[\w-]{43}"),
    _issued(
        "one-password",
        "1Password token or secret key",
        "ops_ey A3-",
        r"ops_eyJ[\w-]{100,1000}|A3-[A-Z0-9-]{29,38}",
    ),
    _issued("alibaba", "Alibaba key id", "LTAI", r"LTAI[A-Za-z0-9]{16,24}"),
    _issued(
        "easypost",
        "EasyPost or Shippo key",
        "EZAK EZTK shippo_",
        r"EZ[AT]K[A-Za-z0-9]{54}|shippo_(?:live|test)_[0-9a-f]{40}",
    ),
    _issued("cloudflare", "Cloudflare origin key", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
)

_BREAK = r"(?:\\{1,4}[rn]|[\s\"',+])"  # a line break, also as it is written inside a string literal
_BLOCK = r"[A-Z0-9 ]{0,24}PRIVATE KEY"
KEYS = (
    Rule(
        "private-key",
        "private key block, or either half of one",
        re.compile(
            rf"-----BEGIN {_BLOCK}(?: BLOCK)?-----{_BREAK}{{1,8}}(?:[A-Za-z0-9+/=]{{16}}|[A-Z][A-Za-z-]{{3,20}}: )"
            r"[A-Za-z0-9+/=\\\s:,.\"'-]{0,8000}"
            rf"|[A-Za-z0-9+/=]{{4}}{_BREAK}{{1,8}}-----END {_BLOCK}"
        ),
        values.varied,
        ("private key",),
    ),
    Rule(
        "private-key-base64",
        "private key block in base64",
        re.compile(r"(?<![A-Za-z0-9+/])(?P<value>LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,8000}={0,2})"),
        values.wrapped_key,
        ("ls0tls1crudjti",),
    ),
    Rule(
        "private-key-body",
        "body of a private key",
        re.compile(
            r"(?:MI[A-Za-z0-9+/]{3,6}IBADANBgkqhkiG9w0BAQEFAASC|b3BlbnNzaC1rZXktdjEA|MC4CAQAwBQYDK2VwBCIE)"
            r"[A-Za-z0-9+/=]{20,8000}"
        ),
        values.varied,
        ("ibadanbgkqhkig9w0baqefaasc", "b3blbnnzac1rzxktdjea", "mc4caqawbqydk2vwbcie"),
    ),
)

LOGINS = (
    Rule(
        "address-login",
        "address with a password in it",
        re.compile(r"://[^\s:@/\"'<>]{0,64}:(?P<value>[^\s/?#\"'<>]{3,128})@[\w\[]"),
        values.login,
        ("://",),
    ),
    Rule(
        "command-login",
        "user and password given to a command",
        re.compile(r"\s(?:-u|--user)(?:[ =]|[ =]?[\"'])[^\s\"':/]{0,64}:[\"']?(?P<value>[^\s\"'/]{3,128})"),
        values.login,
        ("curl", "wget", "http"),
    ),
    Rule(
        "bearer",
        "authorization header",
        re.compile(
            r"(?i)(?:\bbearer|authorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?:token|apikey|key))"
            r"\s{1,3}(?P<value>[\w.~+/=-]{16,1000})"
        ),
        values.random,
        ("bearer", "authorization"),
    ),
    Rule(
        "basic",
        "basic authorization header",
        re.compile(r"(?i)\bbasic\s{1,3}(?P<value>[A-Za-z0-9+/]{8,400}={0,2})"),
        values.basic,
        ("basic",),
    ),
)

# Words that introduce a secret. A name may go on after the word (`password_prod`), unless it then names something
# about the secret instead of the secret (`password_file`, `tokenCount`); `password@host` is part of an address.
_PARTS = (
    "age budget count days expires expiry field file format hash hint id length limit manager max min name path policy "
    "prefix ref refs reset size strength ttl type uri url usage version"
)
_LOWER, _UPPER = "|".join(_PARTS.split()), "|".join(_PARTS.title().split())
_ABOUT = (
    rf"(?![a-z0-9_-]{{0,20}}(?:@|[_-](?:{_LOWER})(?![a-z])|(?-i:(?:{_UPPER})(?![a-z]))))"
    r"[a-z0-9_-]{0,16}"
)
_FULL = (
    rf"(?:pass(?:word|wd|phrase|code|wort)|kennwort|contraseña|mot de passe|senha|пароль|密码|密碼|パスワード){_ABOUT}"
)
_SHORT = r"(?<![a-z])(?:pass|pwd|pw)(?![a-z])|(?-i:(?<=[a-z])(?:Pass|Pwd)(?![a-z]))"
_PASS = re.compile(rf"(?i)(?:{_FULL}|{_SHORT})")
_PASS_SAID = re.compile(rf"(?i)(?:{_FULL}|\bpw\b)")
_PASS_NAMED = re.compile(rf"(?i)(?:{_FULL}|(?:_|--(?:[a-z]{{1,20}}-)?)(?:pass|pwd|pw)(?![a-z])|\bpw\b)")
_PASSING = "".join(f"(?<!{word})(?<!{word}[_-])" for word in ("page", "next", "sync", "csrf", "xsrf", "public"))
_TOKEN = re.compile(
    r"(?i)(?:(?:api|secret|access|private|signing|encryption|master|account|auth|service|app|client)[_ -]?key(?!s)"
    rf"|secret|{_PASSING}token(?!s)|credentials?)" + _ABOUT
)

# What stands between the word and the secret: a setting's sign, a verb, or nothing but a space.
_OPEN = r"[\"'`“„«(]{0,2}"
_VALUE = r"(?P<value>[^\s\"'`“”»<>]{4,256})"
_SET = r"(?:^[\"'`\])]{0,3}[ \t]{0,3}(?:[:=]{1,2}>?|>)|^[\"'`]{1,2},|[:=：])[ \t]{0,3}"
_IS = (
    r"(?:\b(?:is|was|to|ist|lautet|war|es|est|è|é|era)[ \t]{1,2}(?:(?:still|now|just|jetzt)[ \t])?|[是为は][ \t]{0,2})"
)
_NEXT = r"^(?:[ \t](?:от|для|к)[ \t]\w{1,20})?[ \t]{1,2}"
_QUOTES = r"[\"'`“„«](?P<value>[^\s\"'`“”„«»]{4,64})[\"'`”“»]"


_NEAR_PASS = ("pass", "pwd", "pw", "kennwort", "contraseña", "senha", "пароль", "密码", "密碼", "パスワード")
_NEAR_TOKEN = ("key", "secret", "token", "credential")


def _worded(name: str, description: str, word: re.Pattern[str], then: str, holds: Callable[[str], bool]) -> Rule:
    near = _NEAR_TOKEN if word is _TOKEN else _NEAR_PASS
    return Rule(name, description, word, holds, near, re.compile(f"(?i){then}"))


WORDED = (
    _worded("password-setting", "password in a setting", _PASS, f"{_SET}{_OPEN}{_VALUE}", values.password),
    _worded("password-sentence", "password in a sentence", _PASS_SAID, f"{_IS}{_OPEN}{_VALUE}", values.password),
    _worded("password-quoted", "quoted word named as a password", _PASS_SAID, f"{_IS}{_QUOTES}", values.quoted),
    _worded("password-next", "password right after its name", _PASS_NAMED, f"{_NEXT}{_OPEN}{_VALUE}", values.password),
    _worded("secret-setting", "secret in a setting", _TOKEN, f"{_SET}{_OPEN}{_VALUE}", values.random),
    _worded("secret-sentence", "secret in a sentence", _TOKEN, f"{_IS}{_OPEN}{_VALUE}", values.password_or_random),
    _worded("secret-next", "secret right after its name", _TOKEN, f"{_NEXT}{_OPEN}{_VALUE}", values.random),
    Rule(
        "password-before",
        "value called a password after it",
        re.compile(
            r"(?i)(?:^|(?<=[\s\"'`“(]))(?P<value>[^\s\"'`“”»<>]{6,64})[\"'`”»]?,?[ \t]\(?(?:(?:that|this)[ \t])?"
            r"(?:is|as|=)[ \t](?:the|my|our|your|his|her|their|a)[ \t](?:\w{1,20}[ \t])?"
            r"(?:password|passphrase|passcode|pw)\b"
        ),
        values.password,
        ("password", "passphrase", "passcode", "pw"),
    ),
)

PERSONAL = (
    Rule("card", "card number", re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])"), values.card, kind=PII),
    Rule(
        "iban",
        "bank account number (IBAN)",
        re.compile(r"(?<!\w)[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)"),
        values.iban,
        kind=PII,
    ),
    Rule(
        "social-security",
        "US social security number",
        re.compile(r"(?<![\w-])\d{3}-\d\d-\d{4}(?![\w-])"),
        values.social_security,
        kind=PII,
    ),
)

RULES = (*ISSUED, *KEYS, *LOGINS, *WORDED, *PERSONAL)
