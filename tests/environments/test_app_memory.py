"""The memory of an assistant: earlier conversations said, changed and took back facts; the state is what is left."""

from __future__ import annotations

from contextlib import closing

from app_tools import opened, play, task

from synth.environments.app.environment import AppEpisode


def _episode() -> AppEpisode:
    return opened("memory").reset(task())


def _call(episode: AppEpisode, name: str, **arguments: str) -> str:
    return play(episode, (name, dict(arguments)))[0].content


def test_the_memory_is_what_earlier_conversations_left() -> None:
    with closing(_episode()) as episode:
        last: dict[str, str | None] = {}
        told: dict[str, int] = {}
        for row in episode.look("SELECT * FROM statements ORDER BY conversation"):
            last[row["subject"]] = row["content"]
            told[row["subject"]] = told.get(row["subject"], 0) + 1
        kept = {row["subject"]: row["content"] for row in episode.look("SELECT * FROM memories")}
        assert kept == {subject: content for subject, content in last.items() if content is not None}
        assert any(content is None for content in last.values())
        assert {1, 2} <= set(told.values())


def test_what_is_known_is_read_changed_and_forgotten_and_the_state_tells() -> None:
    with closing(_episode()) as episode:
        (row,) = episode.look("SELECT * FROM memories WHERE NOT kept ORDER BY subject LIMIT 1")
        begun, known, subject = episode.state_hash(), row["memory_id"], row["subject"]
        assert row["content"] not in _call(episode, "search_memories")
        assert row["content"] in _call(episode, "read_memory", memory_id=known)
        assert "already" in _call(episode, "create_memory", subject=subject, content="in the garden shed")
        assert episode.state_hash() == begun
        _call(episode, "update_memory", memory_id=known, content="in the garden shed")
        changed = episode.state_hash()
        _call(episode, "delete_memory", memory_id=known)
        _call(episode, "create_memory", subject=subject, content=row["content"])
        # A memory that was made anew has another id, and says the same.
        assert len({begun, changed}) == 2
        assert episode.look("SELECT content FROM memories WHERE subject = :s", {"s": subject}) == [
            {"content": row["content"]}
        ]
