"""Generate the credential corpus: secrets in carrier sentences, and harmless lines that look like them.

Everything follows from a seed. The corpus was written before the rules of `substrate.secrets` and does not import
them; rules are tuned on the figures of a kind, never on one line.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from benchmarks.secrets import harmless, sentences, shapes
from benchmarks.secrets.shapes import ALNUM, BASE64, DIGITS, HEX, LOWER, UPPER, URLSAFE, Shape, of, one_of


@dataclass(frozen=True, slots=True)
class Case:
    """One text of the corpus; `secret` is the part to be found, None in a harmless line."""

    kind: str
    text: str
    secret: str | None


# Tokens that carry their issuer in their shape: found wherever they stand.
TOKENS: dict[str, Shape] = {
    "aws_key_id": one_of(of("AKIA", (UPPER + "234567", 16)), of("ASIA", (UPPER + "234567", 16))),
    "github_classic": one_of(*(of(f"gh{letter}_", (ALNUM, 36)) for letter in "pousr")),
    "github_fine_grained": of("github_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "gitlab": one_of(of("glpat-", (URLSAFE, 20)), of("gldt-", (URLSAFE, 20)), of("glrt-", (URLSAFE, 20))),
    "slack_token": one_of(
        of("xoxb-", (DIGITS, 11, 13), "-", (DIGITS, 11, 13), "-", (ALNUM, 24)),
        of("xoxp-", (DIGITS, 12), "-", (DIGITS, 12), "-", (DIGITS, 12), "-", (HEX, 32)),
        of("xapp-1-A", (UPPER + DIGITS, 10), "-", (DIGITS, 13), "-", (HEX, 64)),
    ),
    "slack_webhook": of(
        "https://hooks.slack.com/services/T", (UPPER + DIGITS, 8, 10), "/B", (UPPER + DIGITS, 8, 10), "/", (ALNUM, 24)
    ),
    "discord_webhook": of("https://discord.com/api/webhooks/", (DIGITS, 18), "/", (URLSAFE, 68)),
    "stripe": one_of(of("sk_live_", (ALNUM, 24)), of("rk_live_", (ALNUM, 24, 99)), of("sk_test_", (ALNUM, 24, 99))),
    "stripe_webhook": of("whsec_", (ALNUM, 32)),
    "openai": one_of(
        of("sk-", (ALNUM, 20), "T3BlbkFJ", (ALNUM, 20)),
        of("sk-proj-", (URLSAFE, 74), "T3BlbkFJ", (URLSAFE, 74)),
        of("sk-proj-", (URLSAFE, 48)),
        of("sk-", (ALNUM, 48)),
    ),
    "anthropic": of("sk-ant-api03-", (URLSAFE, 93), "AA"),
    "openrouter": of("sk-or-v1-", (HEX, 64)),
    "google_api": of("AIza", (URLSAFE, 35)),
    "google_oauth": one_of(of("GOCSPX-", (URLSAFE, 28)), of("ya29.a0", (URLSAFE, 100, 180))),
    "azure_storage": of(
        "DefaultEndpointsProtocol=https;AccountName=",
        (LOWER, 8),
        ";AccountKey=",
        (BASE64, 86),
        "==;EndpointSuffix=core",
    ),
    "azure_client_secret": of((ALNUM, 3), "8Q~", (ALNUM + "_~.-", 33), "a"),
    "azure_sas": of("SharedAccessKeyName=Root;SharedAccessKey=", (BASE64, 43), "="),
    "npm": of("npm_", (ALNUM, 36)),
    "pypi": of("pypi-AgEIcHlwaS5vcmc", (URLSAFE, 70, 150)),
    "hugging_face": of("hf_", (ALNUM, 34)),
    "twilio": of("SK", (HEX, 32)),
    "sendgrid": of("SG.", (URLSAFE, 22), ".", (URLSAFE, 43)),
    "mailgun": of("key-", (HEX, 32)),
    "telegram": shapes.telegram,
    "discord": shapes.discord,
    "jwt": shapes.jwt,
    "digitalocean": one_of(of("dop_v1_", (HEX, 64)), of("doo_v1_", (HEX, 64))),
    "shopify": one_of(of("shpat_", (HEX, 32)), of("shpss_", (HEX, 32))),
    "databricks": of("dapi", (HEX, 32)),
    "linear": of("lin_api_", (ALNUM, 40)),
    "notion": one_of(of("ntn_", (DIGITS, 11), (ALNUM, 35)), of("secret_", (ALNUM, 43))),
    "docker": of("dckr_pat_", (URLSAFE, 27)),
    "vault": of("hvs.", (URLSAFE, 90, 120)),
    "grafana": of("glsa_", (ALNUM, 32), "_", (HEX, 8)),
    "postman": of("PMAK-", (HEX, 24), "-", (HEX, 34)),
    "age": of("AGE-SECRET-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    "groq_replicate_xai": one_of(of("gsk_", (ALNUM, 52)), of("r8_", (ALNUM, 37)), of("xai-", (ALNUM, 80))),
    "terraform": of((ALNUM, 14), ".atlasv1.", (URLSAFE, 67)),
    "planetscale": one_of(of("pscale_tkn_", (URLSAFE, 43)), of("pscale_pw_", (URLSAFE, 43))),
    "connection_string": shapes.connection,
    "web_login": shapes.web_login,
    "connection_pairs": shapes.key_value_login,
    "pem": one_of(shapes.pem, shapes.pgp),
    "pem_escaped": shapes.pem_escaped,
    "pem_base64": shapes.pem_wrapped,
    "pem_first_half": shapes.pem_cut,
}

_TOKEN_CARRIERS = (
    "{}",
    "Note to self: {} is what the deploy job uses.",
    "{name} sent me this over chat: {}",
    "use {} until Friday, then rotate it",
    "export SERVICE_CREDENTIAL={}",
    'client = Client("{}", timeout=30)',
    "curl -s https://api.example.com/v1/items -H 'X-Api-Key: {}'",
    "```\n{}\n```",
    "The old one was revoked. The new one: {}.",
    "2026-03-0{digit}T10:14:22Z WARN worker-{digit} auth failed with {}",
    "config:\n  credential: {}\n  region: eu-west-{digit}",
    '{{"service": "{word}", "value": "{}"}}',
    "| {word} | {} | {name} |",
    "Remember that the {word} account works with {} (ask {name}).",
    "({})",
    "<{}>",
    "it printed “{}”, which looked wrong",
)

_ASSIGNED = (
    "{key}={}",
    "{key} = '{}'",
    '{key} = "{}"',
    "{key}: {}",
    '"{key}": "{}",',
    "export {KEY}={}",
    "{KEY}={} ./run.sh",
    'os.environ["{KEY}"] = "{}"',
    "--{dash} {}",
    "--{dash}={}",
    "set {KEY} {}",
    "{key} := {}",
    "{key} => '{}',",
    "<{key}>{}</{key}>",
    "https://api.example.com/v2/list?{key}={}&page={digit}",
    "In .env we have {KEY}={} since last week.",
)

_KEYS: dict[str, tuple[str, ...]] = {
    "assigned_api_key": ("api_key", "apikey", "x_api_key", "maps_api_key", "access_key", "service_key"),
    "assigned_secret": ("client_secret", "secret", "app_secret", "secret_key", "signing_secret", "webhook_secret"),
    "assigned_token": ("token", "access_token", "auth_token", "refresh_token", "bot_token", "cloudflare_api_token"),
    "assigned_private": ("private_key", "encryption_key", "aws_secret_access_key", "master_key", "credentials"),
}
_PASSWORD_KEYS = ("password", "passwd", "db_password", "pwd", "smtp_pass", "root_password", "passphrase", "admin_pw")

_BEARERS = (
    "Authorization: Bearer {}",
    "curl -H 'Authorization: Bearer {}' https://api.example.com/me",
    '"authorization": "Bearer {}"',
    "headers={{'Authorization': 'Bearer {}'}}",
    "Authorization: token {}",
)
_BASICS = ("Authorization: Basic {}", "-H 'Authorization: Basic {}'", '"Proxy-Authorization": "Basic {}"')

_PROSE = (
    "The wifi password is {}",
    "wifi password is {}",
    "the password for the {word} server is {}.",
    "{name}'s password is {} now",
    "My new password: {}",
    "password for staging = {}",
    "the admin password was changed to {} yesterday",
    "log in as admin with password {}",
    "log in with admin / {} (that is the password)",
    "user: {name}, password: {}",
    "username {word} and password {}",
    "The passphrase of the backup disk is {}",
    "I set the root password to {}.",
    "{name} told me the Netflix password is '{}'",
    "the pw is {}",
    "pass: {}",
    "PW: {}",
    "our guest wifi: network {word}, password {}",
    "Password is still “{}”, please change it",
    "the login is {word} with the password `{}`",
    "the secret key is {}",
    "the api key is {}",
    "my access token is {} for now",
)
_PROSE_OTHER = (
    "Das WLAN-Passwort lautet {}",
    "Das Passwort ist {}",
    "Passwort: {}",
    "Kennwort: {}",
    "la contraseña es {}",
    "contraseña: {}",
    "le mot de passe est {}",
    "mot de passe : {}",
    "la password è {}",
    "a senha é {}",
    "пароль: {}",
    "пароль от роутера {}",
    "密码是 {}",
    "パスワードは {}",
)


def secrets(seed: int, per_kind: int = 24) -> Iterator[Case]:
    """Yield `per_kind` cases of every kind of secret, each in a carrier picked at random."""
    rng = Random(f"secrets {seed}")
    for kind, shape in TOKENS.items():
        yield from (_carried(rng, kind, _TOKEN_CARRIERS, shape) for _ in range(per_kind))
    key_shape = one_of(of((ALNUM, 24, 48)), of((HEX, 32)), of((HEX, 64)), of((URLSAFE, 32)), of((BASE64, 40)))
    for kind, keys in _KEYS.items():
        yield from (_carried(rng, kind, _ASSIGNED, key_shape, rng.choice(keys)) for _ in range(per_kind))
    for _ in range(per_kind):
        yield _carried(rng, "assigned_password", _ASSIGNED, shapes.password, rng.choice(_PASSWORD_KEYS))
        yield _carried(rng, "bearer_header", _BEARERS, one_of(of((URLSAFE, 24, 80)), of((HEX, 40)), shapes.jwt))
        yield _carried(rng, "basic_header", _BASICS, shapes.basic)
        yield _carried(rng, "prose_password", _PROSE, shapes.password)
        yield _carried(rng, "prose_password_other_language", _PROSE_OTHER, shapes.password)


def benign(seed: int, per_kind: int = 64) -> Iterator[Case]:
    """Yield `per_kind` lines of every harmless kind; prose templates are used once each at most."""
    rng = Random(f"benign {seed}")
    for kind, make in harmless.KINDS.items():
        yield from (Case(kind, make(rng), None) for _ in range(per_kind))
    yield from (Case("prose", text, None) for text in sentences.PROSE)
    yield from (Case("code", text, None) for text in sentences.CODE)


def _carried(rng: Random, kind: str, carriers: tuple[str, ...], shape: Callable[[Random], str], key: str = "") -> Case:
    carrier, secret = rng.choice(carriers), shape(rng)
    if carrier.startswith(('{{"', '"{key}')):  # JSON carriers hold the secret as JSON writes it
        secret = json.dumps(secret, ensure_ascii=False)[1:-1]
    key = rng.choice([key, key, key.upper(), key.replace("_", "-")])
    text = carrier.format(
        secret,
        key=key,
        KEY=key.upper().replace("-", "_"),
        dash=key.lower().replace("_", "-"),
        digit=rng.randint(1, 9),
        word=rng.choice(shapes.WORDS),
        name=rng.choice(shapes.NAMES),
    )
    return Case(kind, text, secret)
