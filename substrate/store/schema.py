"""The tables, as numbered migrations; each is one transaction and records itself in ``schema_meta``.

A committed table carries a ``salt`` column and every row of it is bound by the signed state (docs/spec/audit.md §1.4).
Derived tables (``DERIVED``) can be rebuilt from committed rows and events, so nothing signs them.

Source: docs/spec/model.md §4.
"""

from __future__ import annotations

# Key columns of every committed table, in the order that names a row.
COMMITTED: dict[str, tuple[str, ...]] = {
    "principals": ("id",),
    "instances": ("agent_id", "instance"),
    "credentials": ("id",),
    "namespaces": ("path",),
    "memberships": ("project", "principal_id"),
    "sessions": ("id",),
    "memories": ("id",),
    "memory_links": ("source_id", "target_id", "relation"),
    "entities": ("namespace", "entity_id"),
    "entity_aliases": ("namespace", "alias_folded"),
    "persona_heads": ("namespace", "entity_id"),
    "claims": ("persona_id", "position"),
    "documents": ("kind", "subject", "version"),
    "requests": ("id",),
    "decisions": ("id",),
    "idempotency": ("principal_id", "key"),
}
LOG = ("signed_events", "state_entries", "state_buckets")
DERIVED = ("turn_decisions", "jobs", "cursors", "model_calls", "projections", "keys", "schema_meta")

_FIRST = """
CREATE TABLE principals (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('human','agent','hub')), handle TEXT NOT NULL UNIQUE,
  owner_id TEXT, lead_id TEXT, public_page BOOLEAN NOT NULL, language TEXT, discuss_first BOOLEAN NOT NULL,
  knowledge TEXT, settings TEXT, external_ids TEXT, created_at TEXT NOT NULL, retired_at TEXT, salt TEXT);
CREATE TABLE instances (
  agent_id TEXT, instance TEXT, address TEXT, dormant BOOLEAN NOT NULL, last_seen_at TEXT, salt TEXT,
  PRIMARY KEY (agent_id, instance));
CREATE TABLE credentials (
  id TEXT PRIMARY KEY, principal_id TEXT NOT NULL, instance TEXT,
  kind TEXT NOT NULL CHECK (kind IN ('ed25519','bearer')),
  public_key TEXT, token_sha256 TEXT, created_at TEXT NOT NULL, revoked_at TEXT, salt TEXT);
CREATE TABLE namespaces (
  path TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('global','agent','user','project','role','plain')),
  access TEXT NOT NULL CHECK (access IN ('rw','ro','off')), policy TEXT NOT NULL, created_at TEXT NOT NULL,
  salt TEXT);
CREATE TABLE memberships (
  project TEXT, principal_id TEXT, trust TEXT NOT NULL CHECK (trust IN ('owner','admin','member','guest')), role TEXT,
  scopes TEXT NOT NULL, proxy_for TEXT, paused BOOLEAN NOT NULL, isolated BOOLEAN NOT NULL,
  preferences_included BOOLEAN NOT NULL, owner_preferences BOOLEAN NOT NULL, discuss_first BOOLEAN,
  joined_at TEXT NOT NULL, left_at TEXT, salt TEXT, PRIMARY KEY (project, principal_id));
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, instance TEXT, project TEXT,
  kind TEXT NOT NULL CHECK (kind IN ('wake','chat','task','item','conversation')), trigger TEXT, task_id TEXT,
  thread_ref TEXT, title TEXT, opened_at TEXT NOT NULL, closed_at TEXT,
  outcome TEXT CHECK (outcome IN ('done','blocked','request_changes','no_report','error','abandoned')),
  exit_code BIGINT,
  result TEXT, corrected BOOLEAN NOT NULL, corrected_at TEXT, turns BIGINT, cost_microusd BIGINT, duration_ms BIGINT,
  log_path TEXT, transcript_path TEXT, episode_id TEXT, index_path TEXT, index_sha256 TEXT,
  reflect_state TEXT NOT NULL CHECK (reflect_state IN ('none','skipped','failed','done')), reflect_note TEXT,
  pass_state TEXT NOT NULL CHECK (pass_state IN ('none','skipped','failed','out_of_turns','done')), pass_note TEXT,
  salt TEXT);
CREATE TABLE memories (
  id TEXT PRIMARY KEY, namespace TEXT NOT NULL,
  memory_kind TEXT NOT NULL CHECK (memory_kind IN ('observation','reflection','persona')),
  memory_type TEXT NOT NULL CHECK (memory_type IN
    ('fact','preference','decision','episode','procedure','document','lesson','anti_pattern','friction')),
  name TEXT, title TEXT, description TEXT, content TEXT, size_bytes BIGINT NOT NULL, tags TEXT, metadata TEXT,
  entity_id TEXT, persona_version BIGINT, mentioned_entity_id TEXT, reflection_depth BIGINT NOT NULL, applies_to TEXT,
  times_seen BIGINT NOT NULL, last_seen_at TEXT,
  origin TEXT NOT NULL CHECK (origin IN ('agent','human','curator','file','import')),
  by_kind TEXT NOT NULL, by_id TEXT NOT NULL, by_instance TEXT, by_handle TEXT, by_project TEXT, by_session TEXT,
  confirmed_by TEXT, request_id TEXT, sources TEXT,
  status TEXT NOT NULL CHECK (status IN ('active','superseded','retired','deleted')), status_reason TEXT,
  status_by TEXT,
  status_at TEXT, superseded_by TEXT, promoted_at TEXT, promoted_seen BIGINT, valid_from TEXT, valid_until TEXT,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, sequence BIGINT NOT NULL, salt TEXT);
CREATE UNIQUE INDEX idx_personas_by_entity ON memories (entity_id, namespace, persona_version);
CREATE INDEX idx_memories_mentioned_entity ON memories (mentioned_entity_id);
CREATE TABLE memory_links (
  source_id TEXT, target_id TEXT, relation TEXT NOT NULL CHECK (relation IN
    ('derived_from','supersedes','contradicts','related_to','depends_on','mentions')),
  attest_level TEXT NOT NULL CHECK (attest_level IN ('unsigned','self_signed','peer_attested')), key_id TEXT,
  observed_by TEXT, valid_from TEXT, valid_until TEXT, created_at TEXT NOT NULL, sequence BIGINT NOT NULL, salt TEXT,
  PRIMARY KEY (source_id, target_id, relation));
CREATE INDEX idx_links_target ON memory_links (target_id);
CREATE TABLE entities (
  namespace TEXT, entity_id TEXT, kind TEXT, canonical_name TEXT NOT NULL, created_at TEXT NOT NULL, merged_into TEXT,
  salt TEXT, PRIMARY KEY (namespace, entity_id));
CREATE TABLE entity_aliases (
  namespace TEXT, alias_folded TEXT, entity_id TEXT NOT NULL, created_at TEXT NOT NULL, salt TEXT,
  PRIMARY KEY (namespace, alias_folded));
CREATE TABLE persona_heads (
  namespace TEXT, entity_id TEXT, persona_id TEXT, version BIGINT NOT NULL, salt TEXT,
  PRIMARY KEY (namespace, entity_id));
CREATE TABLE claims (
  persona_id TEXT, position BIGINT, claim_id TEXT NOT NULL, section TEXT, text TEXT, sources TEXT NOT NULL,
  pinned BOOLEAN NOT NULL, salt TEXT, PRIMARY KEY (persona_id, position));
CREATE TABLE documents (
  kind TEXT CHECK (kind IN ('soul','profile','preferences','rules','briefing','handbook')), subject TEXT,
  version BIGINT CHECK (version >= 1), content TEXT, state TEXT NOT NULL CHECK (state IN ('applies','pending')),
  by_kind TEXT NOT NULL, by_id TEXT NOT NULL, by_instance TEXT, by_handle TEXT, by_project TEXT, by_session TEXT,
  proposed_by TEXT, confirmed_by TEXT, request_id TEXT, rollback_of BIGINT, note TEXT, created_at TEXT NOT NULL,
  salt TEXT, PRIMARY KEY (kind, subject, version));
CREATE TABLE requests (
  id TEXT PRIMARY KEY, class TEXT NOT NULL CHECK (class IN ('info','consent')),
  kind TEXT NOT NULL CHECK (kind IN ('soul_changed','community_entry','preferences','improve')), project TEXT,
  to_ref TEXT NOT NULL, filed_by TEXT NOT NULL, author TEXT, title TEXT, memory_proposal TEXT, body TEXT,
  options TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('open','answered','withdrawn')), reason TEXT, answer TEXT, result TEXT,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, closed_at TEXT, salt TEXT);
CREATE TABLE decisions (
  id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, project TEXT, basis TEXT NOT NULL, note TEXT, created_at TEXT NOT NULL,
  salt TEXT);
CREATE TABLE idempotency (
  principal_id TEXT, key TEXT, fingerprint TEXT, subject_id TEXT NOT NULL, created_at TEXT NOT NULL, salt TEXT,
  PRIMARY KEY (principal_id, key));
CREATE TABLE signed_events (sequence BIGINT PRIMARY KEY, body BLOB NOT NULL, signature BLOB, key_id TEXT);
CREATE TABLE merkle_nodes (level INTEGER, position BIGINT, hash TEXT NOT NULL, PRIMARY KEY (level, position));
CREATE TABLE state_entries (
  bucket INTEGER NOT NULL, tbl TEXT, id TEXT, commitment TEXT NOT NULL, PRIMARY KEY (tbl, id));
CREATE INDEX idx_state_bucket ON state_entries (bucket);
CREATE TABLE state_buckets (bucket INTEGER PRIMARY KEY, digest TEXT NOT NULL);
CREATE TABLE keys (
  key_id TEXT PRIMARY KEY, public_key TEXT NOT NULL, epoch BIGINT NOT NULL, from_sequence BIGINT NOT NULL);
CREATE TABLE turn_decisions (
  session_id TEXT, turn_seq BIGINT, save_scope TEXT CHECK (save_scope IN ('none','user','workspace','agent','mixed')),
  should_recall BOOLEAN, user_id TEXT, workspace TEXT, agent_id TEXT,
  state TEXT NOT NULL CHECK (state IN ('retry','pending','planned','done','failed')), attempts BIGINT NOT NULL,
  next_attempt_at TEXT, last_error TEXT, truncated BOOLEAN NOT NULL, created_at TEXT NOT NULL,
  PRIMARY KEY (session_id, turn_seq));
CREATE TABLE jobs (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN
    ('pending','running','done','failed')), plan TEXT, cursor_from BIGINT, cursor_to BIGINT, attempts BIGINT NOT NULL,
  next_attempt_at TEXT, idempotency_key TEXT, last_error TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE cursors (name TEXT PRIMARY KEY, position BIGINT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE model_calls (
  id TEXT PRIMARY KEY, purpose TEXT NOT NULL, model TEXT NOT NULL, agent_id TEXT, session_id TEXT, day TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok','error','timeout','invalid')), error TEXT, input_chars BIGINT,
  output_chars BIGINT, input_tokens BIGINT, output_tokens BIGINT, cost_microusd BIGINT, latency_ms BIGINT,
  created_at TEXT NOT NULL);
CREATE TABLE projections (
  path TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN
    ('core','index','note','wiki','persona','profile','handwritten')),
  subject TEXT NOT NULL, direction TEXT NOT NULL CHECK (direction IN ('out','in','both')), sha256 TEXT NOT NULL,
  synced_at TEXT NOT NULL);
"""

# Reflections may have a file too; projections are derived, so the table is made anew.
_SECOND = """
DROP TABLE projections;
CREATE TABLE projections (
  path TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN
    ('core','index','note','wiki','persona','reflection','profile','handwritten')),
  subject TEXT NOT NULL, direction TEXT NOT NULL CHECK (direction IN ('out','in','both')), sha256 TEXT NOT NULL,
  synced_at TEXT NOT NULL);
"""

# The nodes of the log's tree that an event completes stand in its own row: one statement less for every write.
_THIRD = """
ALTER TABLE signed_events ADD COLUMN nodes BLOB;
UPDATE signed_events SET nodes = n.nodes FROM (
  SELECT (position + 1) * CAST(pow(2, level) AS BIGINT) AS completed_by,
    unhex(string_agg(hash, '' ORDER BY level)) AS nodes
  FROM merkle_nodes WHERE level > 0 GROUP BY completed_by) n WHERE sequence = n.completed_by;
DROP TABLE merkle_nodes;
"""

# A write reads the bucket of its row, some rows from all over the table: compressed, they take twice as long.
_FOURTH = """
CREATE TEMP TABLE entries AS FROM state_entries;
DROP TABLE state_entries;
CREATE TABLE state_entries (
  bucket INTEGER NOT NULL, tbl TEXT USING COMPRESSION uncompressed, id TEXT USING COMPRESSION uncompressed,
  commitment TEXT USING COMPRESSION uncompressed NOT NULL, PRIMARY KEY (tbl, id));
INSERT INTO state_entries FROM entries;
CREATE INDEX idx_state_bucket ON state_entries (bucket);
DROP TABLE entries;
"""

MIGRATIONS: tuple[str, ...] = (_FIRST, _SECOND, _THIRD, _FOURTH)
VERSION = len(MIGRATIONS)


def statements(script: str) -> list[str]:
    """Split a migration into its statements, in order."""
    return [part.strip() for part in script.split(";") if part.strip()]
