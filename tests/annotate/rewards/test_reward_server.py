"""The reward server over real HTTP on loopback."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from reward_samples import BARE, BIRTHDAY, FULL, GIVEN, HALF, WRONG

from synth.annotate.rewards import trl_reward
from synth.annotate.rewards.server import RewardServer
from synth.errors import InputError
from synth.own_code import beside

TRUTH = BIRTHDAY.model_dump(mode="json")


@pytest.fixture(scope="module")
def server() -> Iterator[RewardServer]:
    running = RewardServer("127.0.0.1", 0, {"rl-1": BIRTHDAY, "rl-2": GIVEN})
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield running
    running.stop()
    thread.join()


def ask(
    server: RewardServer, path: str, body: Any = None, method: str | None = None, **headers: str
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(*server.server_address, timeout=20)
    try:
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json"} | {name.replace("_", "-"): text for name, text in headers.items()}
        connection.request(method or ("GET" if body is None else "POST"), path, data, sent)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    finally:
        connection.close()


def test_it_says_that_it_is_there(server: RewardServer) -> None:
    assert ask(server, "/health") == (200, {"status": "ok", "version": 1, "truths": 2})


def test_a_client_names_no_code_and_the_user_does(server: RewardServer, tmp_path: Path) -> None:
    items = [{"response": FULL, "id": "rl-1"}]
    status, body = ask(server, "/score", {"items": items, "rule": "os:system"})
    assert (status, "there is no reward 'os:system'" in str(body)) == (400, True)
    (tmp_path / "served_reward.py").write_text("def half(responses, truth):\n    return [0.5 for _ in responses]\n")
    beside(tmp_path)
    own = RewardServer("127.0.0.1", 0, {"rl-1": BIRTHDAY}, rule="served_reward:half")
    thread = threading.Thread(target=own.serve_forever)
    thread.start()
    try:
        assert ask(own, "/score", {"items": items})[1]["rewards"][0]["value"] == 0.5
        assert ask(own, "/score", {"items": items, "rule": "grounded"})[1]["rewards"][0]["value"] == 1.0
    finally:
        own.stop()
        thread.join()


def test_another_reward_is_asked_for_by_name(server: RewardServer) -> None:
    items = [{"response": text, "id": "rl-1"} for text in (FULL, WRONG)]
    status, body = ask(server, "/score", {"items": items, "rule": "checklist"})
    full, wrong = body["rewards"]
    assert (status, full["value"], wrong["value"]) == (200, pytest.approx(0.75), pytest.approx(0.5 * 2 / 6))
    assert sum(full["turns"]) == pytest.approx(0.75), "no page was read"
    status, body = ask(server, "/score", {"items": items, "rule": "kind"})
    assert (status, body["error"]["where"]) == (400, "rule")


def test_a_batch_with_truths(server: RewardServer) -> None:
    items = [{"response": text, "ground_truth": TRUTH} for text in (HALF, BARE, WRONG)]
    status, body = ask(server, "/score", {"items": items})
    assert status == 200
    half, bare, wrong = body["rewards"]
    assert (half["value"], bare["value"], wrong["value"]) == (1.0, pytest.approx(0.85), 0.0)
    assert half["named"] == ["ilse-brandt", "1868-01-30"]
    assert wrong["rule"] == "date"
    assert "9 June 1874" in wrong["evidence"]


def test_a_batch_by_ids_and_groups(server: RewardServer) -> None:
    items = [
        {"response": HALF, "id": "rl-1", "group": "x"},
        {"response": [{"role": "assistant", "content": "Answer: Ann Lee"}], "id": "rl-2", "group": 7},
        {"response": BARE, "id": "rl-1", "group": "y"},
    ]
    status, body = ask(server, "/score", {"items": items})
    assert (status, [one["value"] for one in body["rewards"]]) == (200, [1.0, 1.0, 1.0])
    assert ask(server, "/score", {"items": []}) == (200, {"rewards": []})


def test_the_shapes_of_trl_and_verl(server: RewardServer) -> None:
    model, info = {"style": "rule", "ground_truth": TRUTH}, {"id": "rl-1"}
    columns = {"prompts": ["When?"] * 2, "completions": [HALF, FULL], "reward_model": [model] * 2, "split": ["train"]}
    assert ask(server, "/trl", columns) == (
        200,
        {"rewards": trl_reward(completions=[HALF, FULL], reward_model=[model] * 2)},
    )
    batch = {"solution_strs": [HALF, BARE], "ground_truths": [TRUTH] * 2, "extra_infos": [info] * 2}
    status, body = ask(server, "/verl", batch)
    assert (status, [one["score"] for one in body["scores"]]) == (200, [1.0, pytest.approx(0.85)])


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/score", b"{", 400, "is not JSON in UTF-8 (line 1, column 2)"),
        ("/score", b'{"items": [NaN]}', 400, "is not JSON"),
        ("/score", b"\xff\xfe", 400, "is not JSON"),
        ("/score", b"", 400, "is not JSON"),
        ("/score", b"[" * 100_000, 400, "is not JSON"),
        ("/score", b"[]", 400, "is a list, not an object"),
        ("/score", {}, 400, "is missing"),
        ("/score", {"items": {}}, 400, "is a dict, not a list"),
        ("/score", {"items": [3]}, 400, "is a int, not an object"),
        ("/score", {"items": [{"id": "rl-1"}]}, 400, "has no response"),
        ("/score", {"items": [{"response": "A"}]}, 400, "has neither a ground_truth nor an id"),
        ("/score", {"items": [{"response": "A", "id": "rl-9"}]}, 400, "knows no ground truth 'rl-9'"),
        ("/score", {"items": [{"response": 3, "id": "rl-1"}]}, 400, "is a int"),
        ("/score", {"items": [{"response": "A", "ground_truth": {"answer": "A"}}]}, 400, "Field required"),
        ("/score", {"items": [{"response": "A", "id": "rl-1", "group": []}]}, 400, "is neither a text nor a number"),
        (
            "/score",
            {"items": [{"response": "A", "id": "rl-1", "group": 1}, {"response": "A", "id": "rl-1"}]},
            400,
            "some items name a group",
        ),
        ("/trl", {"completions": ["A"], "reward_model": []}, 400, "1 responses, 0 ground truths"),
        ("/verl", {"solution_strs": "A", "ground_truths": []}, 400, "is a str, not a list"),
        ("/nowhere", {}, 404, "there is no /nowhere; there are /health, /score, /trl, /verl"),
    ],
)
def test_a_mistake_is_answered_with_one_clear_line(
    server: RewardServer, path: str, body: Any, status: int, words: str
) -> None:
    got, answer = ask(server, path, body)
    assert got == status
    assert words in answer["error"]["what"]
    assert "Traceback" not in json.dumps(answer)
    assert ask(server, "/health")[0] == 200


def test_methods_and_headers(server: RewardServer) -> None:
    assert ask(server, "/score", method="GET")[0] == 405
    assert ask(server, "/health", {}, method="POST")[0] == 405
    assert ask(server, "/health", method="HEAD") == (405, None)
    assert ask(server, "/score", {"items": []}, Content_Type="text/plain")[0] == 415
    assert ask(server, "/score", {"items": []}, Content_Type="application/json; charset=utf-8")[0] == 200
    assert ask(server, "/score", b"{}", Content_Length="many")[0] == 400
    assert ask(server, "/score", b"{}", Content_Length=str(10**12))[0] == 413


def test_a_request_without_length_or_with_too_short_a_body(server: RewardServer) -> None:
    head = b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for rest, answer in ((b"\r\n", b"HTTP/1.1 411"), (b"Content-Length: 50\r\n\r\n{}", b"")):
        with socket.create_connection(server.server_address, timeout=20) as connection:
            connection.sendall(head + rest)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(4096)[:12] == answer


def test_one_connection_takes_many_requests(server: RewardServer) -> None:
    connection = http.client.HTTPConnection(*server.server_address, timeout=20)
    for number in range(3):
        connection.request("POST", "/score", json.dumps({"items": [{"response": f"Answer: {number}", "id": "rl-2"}]}),
                           {"Content-Type": "application/json"})  # fmt: skip
        answer = connection.getresponse()
        assert json.loads(answer.read())["rewards"][0]["answer"] == str(number)
    connection.close()


def test_many_at_once_get_their_own_answers(server: RewardServer) -> None:
    def value(number: int) -> Any:
        text = FULL if number % 2 else f"Answer: {number}"
        return ask(server, "/score", {"items": [{"response": text, "id": "rl-1"}]})[1]["rewards"][0]["value"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(value, range(40))) == [float(number % 2) for number in range(40)]


def test_texts_that_have_no_utf8_form_do_no_harm(server: RewardServer) -> None:
    status, body = ask(server, "/score", b'{"items": [{"response": "Answer: \\ud800", "id": "rl-1"}]}')
    assert (status, body["rewards"][0]["value"]) == (200, 0.0)


def test_an_address_that_is_taken_is_the_users_mistake(server: RewardServer) -> None:
    with pytest.raises(InputError, match="can't listen"):
        RewardServer("203.0.113.7", 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_stops_at_a_signal_and_finishes_what_it_began(number: signal.Signals) -> None:
    command = [sys.executable, "-c", "from synth.cli import main; main()", "serve-reward", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        port = int(line.split("127.0.0.1:")[1].split()[0])
        body = json.dumps({"items": [{"response": FULL, "ground_truth": TRUTH}]}).encode()
        head = "POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
        with (
            socket.create_connection(("127.0.0.1", port), timeout=20),  # idle: does not hold up the end
            socket.create_connection(("127.0.0.1", port), timeout=20) as busy,
        ):
            busy.sendall(head.encode())
            assert busy.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"  # so it has begun
            os.kill(process.pid, number)
            busy.sendall(body)
            answer = http.client.HTTPResponse(busy)
            answer.begin()
            assert json.loads(answer.read())["rewards"][0]["value"] == 1.0
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, "", "")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
