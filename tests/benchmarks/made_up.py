"""Two small samples in the shape of the development data, in words of our own, odd where the real data is odd."""

import json
from pathlib import Path

DIALOGUE = {
    "sample_id": "talk-1",
    "conversation": {
        "speaker_a": "Ida",
        "speaker_b": "Bram",
        "session_1_date_time": "9:05 am on 3 March, 2025",
        "session_1": [
            {"speaker": "Ida", "dia_id": "D1:1", "text": "I moved to Bergen to repair church organs."},
            {"speaker": "Bram", "dia_id": "D1:2", "text": "Look at my boat!", "blip_caption": "a red rowing boat"},
        ],
        "session_2_date_time": "12:30 pm on 14 March, 2025",
        "session_2": [
            {"speaker": "Bram", "dia_id": "D2:1", "text": "I row to the lighthouse every Sunday."},
            {"speaker": "Ida", "dia_id": "D2:2", "text": "I teach two apprentices on Fridays."},
        ],
    },
    "observation": {
        "session_1_observation": {
            "Ida": [["Ida moved to Bergen to repair church organs.", "D1:1"]],
            "Bram": [
                ["Bram owns a red rowing boat and rows it on Sundays.", ["D1:2", "D2:1"]],
                ["Bram sings.", "D9:9"],
            ],
        },
        "session_2_observation": {
            "Bram": [["Bram rows to the lighthouse every Sunday.", "D:2:01"]],
            "Ida": [["Ida teaches two apprentices on Fridays.", "D2:2"]],
        },
    },
    "event_summary": {
        "events_session_1": {"Ida": ["Ida moves to Bergen."], "Bram": [], "date": "3 March, 2025"},
        "events_session_2": {"Bram": ["Bram rows to the lighthouse."], "date": "14 March, 2025"},
    },
    "qa": [
        {"question": "What does Bram row?", "answer": "a boat", "evidence": ["D1:2; D2:1", "D"], "category": 1},
        {"question": "What does Ida fly?", "adversarial_answer": "a kite", "evidence": ["D:2:2"], "category": 5},
        {"question": "Who knows?", "answer": "nobody", "evidence": [], "category": 4},
    ],
}

_GOAL = "【Goals】 User wants to tune the piano in the village hall before June."
_SAID = "I want to tune the piano in the village hall before June. I have 300 euros."
_BUDGET = "User can spend 300 euros on strings."
_PERSON = {
    "_metadata": {"person_name": "Nora_Vik", "total_sessions": 3},
    "dialogues": [
        {
            "session_identifier": "Piano_1:S1",
            "session_uuid": "aa11",
            "current_time": "2025-11-02 (Sunday)",
            "dialogue_turns": [
                {
                    "speaker": "User",
                    "content": "I want to tune the piano in the village hall before June. I have 300 euros.",
                },
                {"speaker": "Assistant", "content": "Then order strings by April 12."},
            ],
            "extracted_memory": [
                {
                    "type": "Dynamic",
                    "content": _GOAL,
                    "source_turn": 1,
                    "source_content_snapshot": _SAID,
                    "source_role_snapshot": "User",
                },
                {
                    "type": "Static",
                    "content": _BUDGET,
                    "source_turn": 1,
                    "source_content_snapshot": _SAID,
                    "source_role_snapshot": "User",
                },
                {
                    "type": "Schedule",
                    "content": "Order strings by April 12",
                    "source_turn": -1,
                    "source_content_snapshot": "",
                    "source_role_snapshot": "Assistant",
                },
            ],
        },
        {
            "session_identifier": "Piano_1:S2",
            "session_uuid": "bb22",
            "current_time": "2025-11-09 (Sunday)",
            "dialogue_turns": [
                {"speaker": "User", "content": "What can I spend?", "is_query": True},
                {
                    "speaker": "Assistant",
                    "content": "300 euros.",
                    "memory_used": [
                        {"session_uuid": "aa11", "content": _BUDGET},
                        {"session_uuid": "aa11", "content": "what nobody extracted"},
                    ],
                },
            ],
            "extracted_memory": [],
        },
    ],
}
for _session in _PERSON["dialogues"]:  # what every turn and memory of the real data carries
    for _turn in _session["dialogue_turns"]:
        _turn.setdefault("is_query", False)
    for _memory in _session["extracted_memory"]:
        _memory["session_uuid"] = _session["session_uuid"]


def write(folder: Path) -> Path:
    """Write both samples where the development data would be; answer the folder."""
    for place, content in (
        ("locomo/locomo_dev.json", [DIALOGUE]),
        ("realmem/Nora_Vik_dialogues_256k.json", _PERSON),
    ):
        path = folder / place
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    return folder
