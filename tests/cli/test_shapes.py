"""Every command answers with one JSON shape that others rely on, key by key."""

import pytest

from tests.cli.conftest import Cast
from tests.cli.terminal import Terminal

ROW = {
    *("id", "namespace", "memory_kind", "memory_type", "name", "title", "description", "content", "size_bytes"),
    *("tags", "metadata", "entity_id", "persona_version", "mentioned_entity_id", "reflection_depth", "applies_to"),
    *("times_seen", "last_seen_at", "origin", "by", "confirmed_by", "request_id", "sources", "status"),
    *("status_reason", "status_by", "status_at", "superseded_by", "promoted_at", "promoted_seen", "valid_from"),
    *("valid_until", "created_at", "updated_at", "sequence", "deleted"),
}
BY = {"kind", "id", "handle", "instance", "project", "session"}
LINK = {
    *("source_id", "target_id", "relation", "attest_level", "key_id", "observed_by", "valid_from", "valid_until"),
    *("created_at", "sequence"),
}
PERSONA = {
    *("id", "entity_id", "namespace", "version", "body_md", "sources", "generated_at", "attest_level", "stale"),
    *("model", "claims", "left_out", "envelope"),
}
PRINCIPAL = {"id", "kind", "handle", "owner_id", "lead_id", "sealed", "created_at", "retired_at"}
CREDENTIAL = {"id", "principal_id", "kind", "instance", "key_id", "created_at", "revoked_at"}
NAMESPACE = {"path", "kind", "access", "policy", "created_at"}
MEMBER = {
    *("project", "principal_id", "trust", "role", "scopes", "proxy_for", "paused", "isolated"),
    *("preferences_included", "owner_preferences", "discuss_first", "joined_at", "left_at"),
}


def test_remember_answers_with_the_row(shell: Terminal, cast: Cast):
    row = shell.ok("remember", "We meet at noon.", "--title", "Noon", "--tag", "b", "--tag", "a", "--about", "when")
    assert row.keys() == ROW
    assert row["by"].keys() == BY
    assert (row["content"], row["title"], row["description"]) == ("We meet at noon.", "Noon", "when")
    assert (row["memory_kind"], row["memory_type"], row["namespace"], row["status"]) == (
        *("observation", "fact", "global", "active"),
    )
    assert (row["by"]["id"], row["by"]["handle"], row["by"]["kind"]) == (cast.ann, "ann", "human")
    assert sorted(row["tags"]) == ["a", "b"]
    assert row["sources"] == []


@pytest.mark.requirement("S3-8")
def test_get_answers_with_the_row_and_what_it_rests_on(shell: Terminal, cast: Cast):
    cited = shell.ok("persona", "mara")["persona"]["sources"][0]
    row = shell.ok("get", cited)
    assert row.keys() == ROW | {"derived_from"}
    assert (row["id"], row["memory_kind"]) == (cited, "reflection")
    assert row["derived_from"] in ([cast.moved], [cast.choir])
    assert shell.ok("get", "moved")["id"] == cast.moved


def test_list_answers_with_rows_and_their_number(shell: Terminal, cast: Cast):
    page = shell.ok("list", "--kind", "reflection", "--limit", "1")
    assert page.keys() == {"items", "total"}
    assert [row["id"] for row in page["items"]] == [cast.tuesdays]
    assert page["items"][0].keys() == ROW
    assert page["total"] == 2
    assert [row["id"] for row in shell.ok("list", "--tag", "travel")["items"]] == [cast.moved]
    assert [row["id"] for row in shell.ok("list", "--entity", "mara", "--offset", "2")["items"]] == [cast.home]


def test_edit_and_retire_answer_with_the_row(shell: Terminal, cast: Cast):
    row = shell.ok("edit", "moved", "I moved to Porto in May.", "--title", "Porto")
    assert row.keys() == ROW | {"derived_from"}
    assert (row["content"], row["title"], row["name"]) == ("I moved to Porto in May.", "Porto", "moved")
    assert shell.ok("get", cast.moved)["superseded_by"] == row["id"]
    retired = shell.ok("retire", cast.choir, "the choir is over")
    assert retired.keys() == ROW
    assert (retired["status"], retired["status_reason"]) == ("retired", "the choir is over")


@pytest.mark.requirement("S3-32")
def test_reflect_answers_with_what_it_rests_on(shell: Terminal, cast: Cast):
    found = shell.ok("reflect", "Both", "Mara lives by plan.", "--from", cast.home, "--from", "moved", "-e", "Mara")
    assert found.keys() == {"id", "reflection_depth", "sources", "entity_id", "namespace", "persona_due"}
    assert (found["reflection_depth"], found["sources"]) == (2, [cast.home, cast.moved])
    assert (found["entity_id"], found["namespace"], found["persona_due"]) == ("mara", "global", False)
    shell.ok("space", "policy", "global", "governance.auto_persona_trigger_every_n_memories", "1")
    again = shell.ok("reflect", "Once more", "Mara plans ahead.", "--from", cast.home, "-e", "mara")
    assert again["persona_due"] is True


def test_recall_answers_with_hits_and_what_each_arm_did(shell: Terminal):
    found = shell.ok("recall", "Lisbon", "--max", "1")
    assert found.keys() == {"hits", "arms", "left_out", "tokens"}
    assert [hit.keys() >= {"memory", "score", "arms"} for hit in found["hits"]] == [True]
    assert found["hits"][0]["memory"].keys() == ROW
    assert found["hits"][0]["arms"].keys() <= found["arms"].keys()
    assert {"lexical", "vector", "graph"} <= found["arms"].keys()
    assert all(arm.keys() == {"ran", "why_not"} for arm in found["arms"].values())


@pytest.mark.requirement("S3-37")
def test_persona_answers_with_its_envelope(shell: Terminal, cast: Cast):
    persona = shell.ok("persona", "Mara", "--namespace", "global")["persona"]
    assert persona.keys() == PERSONA
    assert persona["sources"] == list(dict.fromkeys(id for claim in persona["claims"] for id in claim["sources"]))
    assert {*persona["sources"]} == {cast.home, cast.tuesdays}
    assert (persona["id"], persona["version"], persona["entity_id"]) == (cast.persona, 1, "mara")
    assert (persona["model"], persona["stale"], persona["attest_level"]) == ("extractive", False, "self_signed")
    assert all(
        claim.keys() == {"id", "section", "text", "sources", "footnotes", "pinned"} for claim in persona["claims"]
    )
    envelope = persona["envelope"]
    assert (envelope["entity_id"], envelope["sources"], envelope["version"]) == ("mara", persona["sources"], 1)
    assert envelope["generated_at"] == persona["generated_at"]


def test_why_answers_with_the_chain(shell: Terminal, cast: Cast):
    found = shell.ok("persona", "mara", "--why", "1")
    assert found.keys() == {"claim", "claims", "footnote", "chain", "hidden"}
    assert found["footnote"] == 1
    assert {"id", "memory_kind", "content", "by", "created_at"} <= found["chain"][0].keys()
    assert [row["memory_kind"] for row in found["chain"]] == ["reflection", "observation"]


def test_history_difference_and_verification_have_shapes(shell: Terminal, cast: Cast):
    shell.ok("reflect", "Sea", "Mara swims in the sea.", "--from", "moved", "-e", "mara")
    shell.ok("persona", "mara", "--regenerate")
    versions = shell.ok("persona", "mara", "--history")["versions"]
    assert [row["version"] for row in versions] == [2, 1]
    assert versions[0].keys() >= {"id", "version", "status", "created_at", "model", "words"}
    changed = shell.ok("persona", "mara", "--diff")
    assert changed.keys() == {"before", "after", "added", "dropped", "recited", "kept"}
    assert [claim["text"] for claim in changed["added"]] == ["Mara swims in the sea."]
    assert shell.ok("persona", "mara", "--verify").keys() == {"ok", "id", "version", "stale", "faults"}
    assert shell.ok("persona", "mara", "--version", "1")["persona"]["id"] == cast.persona


def test_paths_answer_with_steps(shell: Terminal, cast: Cast):
    found = shell.ok("paths", cast.persona, cast.choir)
    assert found["paths"] == [
        [
            {"id": cast.persona, "relation": None, "direction": None},
            {"id": cast.tuesdays, "relation": "derived_from", "direction": "out"},
            {"id": cast.choir, "relation": "derived_from", "direction": "out"},
        ]
    ]


def test_graph_answers_with_nodes_and_links(shell: Terminal, cast: Cast):
    found = shell.ok("graph", cast.persona, "--relation", "derived_from", "--depth", "2")
    assert found.keys() == {"nodes", "links", "left_out"}
    assert {row["id"] for row in found["nodes"]} == {cast.persona, cast.home, cast.tuesdays, cast.moved, cast.choir}
    assert all(row.keys() == ROW for row in found["nodes"])
    assert all(row.keys() == LINK for row in found["links"])
    assert len(found["links"]) == 4
    assert {row["id"] for row in shell.ok("graph", cast.moved, "--reverse", "--depth", "1")["nodes"]} == {
        *(cast.moved, cast.home),
    }


def test_link_timeline_and_impact_have_shapes(shell: Terminal, cast: Cast):
    assert shell.ok("link", cast.home, cast.tuesdays, "--relation", "related_to").keys() == LINK
    moments = shell.ok("timeline", "mara")["moments"]
    assert moments[0].keys() == {"at", "known_at", "what", "id", "other", "by", "title", "sequence"}
    found = shell.ok("impact", cast.choir)
    assert found.keys() == {"wordings", "memories", "personas", "claims", "entities", "kept", "barred"}
    assert [row["id"] for row in found["memories"]] == [cast.tuesdays]
    assert [claim["text"] for claim in found["claims"]] == ["Mara sings in a choir on Tuesdays."]


def test_forget_answers_with_what_went(shell: Terminal, cast: Cast):
    found = shell.ok("forget", cast.choir, "asked to", "--cascade")
    assert found.keys() >= {"id", "ids", "personas", "stale", "repeated", "regenerated", "files_left"}
    assert {*found["ids"]} == {cast.choir, cast.tuesdays}
    assert found["personas"] == [cast.persona]
    assert [again["entity_id"] for again in found["regenerated"]] == ["mara"]
    row = shell.ok("get", cast.choir)
    assert (row["content"], row["deleted"]["reason"]) == (None, "asked to")


def test_entity_commands_have_shapes(shell: Terminal):
    row = {"namespace", "entity_id", "kind", "canonical_name", "created_at", "merged_into"}
    assert shell.ok("entity", "add", "Mara", "--name", "Mara Leal", "--kind", "person").keys() == row
    assert shell.ok("entity", "alias", "ml", "mara").keys() == {"namespace", "alias_folded", "entity_id", "created_at"}
    shown = shell.ok("entity", "show", "ml")
    assert (shown["entity_id"], shown["display"], shown["names"], shown["reflections"]) == (
        *("mara", "Mara Leal", ["mara leal", "ml"], 2),
    )
    assert shell.ok("entity", "merge", "mara", "mara-leal").keys() == {"entity_id", "survivor", "retired", "due"}


def test_space_commands_have_shapes(shell: Terminal, cast: Cast):
    assert shell.ok("space", "add", "team/tides").keys() == NAMESPACE
    assert shell.ok("space", "access", "team/tides", "ro")["access"] == "ro"
    assert shell.ok("space", "policy", "team/tides", "language", "pt")["policy"] == {"language": "pt"}
    items = shell.ok("space", "list")["items"]
    assert all(item.keys() == NAMESPACE | {"memories"} for item in items)
    assert next(item["memories"] for item in items if item["path"] == "global") == 5
    assert shell.ok("space", "show", "team/tides").keys() == {
        *("path", "kind", "access", "exists", "policy", "members"),
    }
    shell.ok("space", "add", "projects/ann/apollo")
    added = shell.ok("space", "member", "projects/ann/apollo", "ben", "--role", "build")
    assert added.keys() == MEMBER
    assert (added["principal_id"], added["role"], added["paused"]) == (cast.ben, "build", True)
    assert shell.ok("space", "accept", "projects/ann/apollo", "--as", "ben")["paused"] is False
    assert shell.ok("space", "member", "projects/ann/apollo", "ben", "--leave")["left_at"] is not None


def test_who_commands_have_shapes(shell: Terminal, cast: Cast):
    added = shell.ok("who", "add", "agent", "rook", "--lead", "ben")
    assert added.keys() == PRINCIPAL | {"key_id"}
    assert (added["owner_id"], added["lead_id"]) == (cast.ann, cast.ben)
    assert [row["handle"] for row in shell.ok("who", "list")["items"]] == ["ann", "ben", "rook", "scout"]
    token = shell.ok("who", "token", "rook", "--instance", "night")
    assert token.keys() == CREDENTIAL | {"token"}
    assert shell.ok("who", "key", "rook", "ab" * 32, "--instance", "b").keys() == CREDENTIAL
    shown = shell.ok("who", "show", "rook")
    assert shown.keys() == PRINCIPAL | {"credentials"}
    assert {row["kind"] for row in shown["credentials"]} == {"ed25519", "bearer"}
    assert shell.ok("who", "revoke", token["id"])["revoked_at"] is not None
    assert shell.ok("who", "retire", "rook")["retired_at"] is not None


def test_audit_commands_have_shapes(shell: Terminal, cast: Cast):
    report = shell.ok("audit", "verify")
    assert report.keys() == {"ok", "anchored", "store_id", "events", "head", "faults"}
    assert (report["ok"], report["anchored"], report["faults"]) == (True, True, [])
    events = shell.ok("audit", "log", "--limit", "2")["events"]
    assert [event["seq"] for event in events] == [1, 2]
    assert events[0].keys() >= {"seq", "time", "type", "actor", "namespace", "subject", "payload", "audience"}
    assert shell.ok("audit", "checkpoint").keys() == {"checkpoint"}
    assert shell.ok("audit", "prove", cast.moved).keys() == {"proof"}
    assert shell.ok("audit", "keys").keys() == {"store_id", "genesis_key", "key_id", "key_here", "epochs"}


def test_commands_on_the_store_have_shapes(shell: Terminal, cast: Cast):
    status = shell.ok("status")
    assert status.keys() == {
        *("home", "store_id", "caller", "events", "memories", "situation", "signed", "read_only", "anchored_at"),
        *("verified_at", "epoch"),
        *("people", "jobs", "due", "model_calls"),
    }
    assert status["caller"] == {"id": cast.ann, "handle": "ann", "kind": "human"}
    assert status["people"] == [
        {"id": cast.ann, "handle": "ann", "sealed": False},
        {"id": cast.ben, "handle": "ben", "sealed": False},
    ]
    doctor = shell.ok("doctor")
    assert doctor.keys() == {"ok", "findings"}
    assert all(item.keys() == {"ok", "name", "what", "found", "mend"} for item in doctor["findings"])
    assert shell.ok("rewrite").keys() == {"bytes_before", "bytes_after", "files_left"}
