"""The chat client against a fake endpoint, and the files beside it."""

from __future__ import annotations

import copy
import json
import pickle
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from scisuite.core import EngineFailure, InvalidInput, MissingDependency
from scisuite.core.chat import ChatClient, ChatFailure
from scisuite.core.replies import ReplyCache, append_line, read_lines

pytest.importorskip("openai", reason="the chat client needs the extra llm")

_helper = runpy.run_path(str(Path(__file__).parents[1] / "fake_endpoint.py"))
FakeEndpoint, Answer = _helper["FakeEndpoint"], _helper["Answer"]
HELLO = [{"role": "user", "content": "hello"}]


@pytest.fixture
def endpoint():
    with FakeEndpoint(Answer("hi")) as running:
        yield running


@pytest.fixture
def waits():
    return []


def client(endpoint, waits, **arguments):
    defaults = {"base_url": endpoint.url, "api_key": "sk-very-secret", "timeout_s": 5.0, "sleep": waits.append}
    return ChatClient("tiny", **{**defaults, **arguments})


def test_a_reply_carries_text_model_usage_and_latency(endpoint, waits):
    reply = client(endpoint, waits).complete(HELLO, max_tokens=5)
    assert (reply.text, reply.model) == ("hi", "tiny")
    assert reply.usage["prompt_tokens"] == 7
    assert reply.latency > 0
    request = endpoint.requests[0]
    assert (request["messages"], request["temperature"], request["seed"], request["max_tokens"]) == (HELLO, 0.0, 0, 5)
    assert endpoint.keys == ["Bearer sk-very-secret"]
    assert waits == []


@pytest.mark.parametrize("status", [500, 503, 429, 408])
def test_passing_faults_are_retried_with_growing_waits(endpoint, waits, status):
    endpoint.script = [Answer(status=status), Answer(status=status)]
    assert client(endpoint, waits).complete(HELLO).text == "hi"
    assert waits == [1.0, 2.0]


def test_the_endpoint_may_ask_for_a_longer_wait_but_not_for_hours(endpoint, waits):
    endpoint.script = [
        Answer(status=429, headers={"Retry-After": "7"}),
        Answer(status=429, headers={"Retry-After": "9999"}),
        Answer(status=429, headers={"Retry-After": "soon"}),
    ]
    client(endpoint, waits).complete(HELLO)
    assert waits == [7.0, 60.0, 4.0]


def test_retries_are_bounded(endpoint, waits):
    endpoint.default = Answer("overloaded", status=500)
    with pytest.raises(ChatFailure, match=r"tiny gave no reply after 3 attempts: HTTP 500: .*overloaded"):
        client(endpoint, waits, max_retries=2, backoff_s=0.5).complete(HELLO)
    assert len(endpoint.requests) == 3
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refused_request_is_not_repeated(endpoint, waits, status):
    endpoint.default = Answer("wrong key sk-very-secret", status=status)
    with pytest.raises(ChatFailure, match=f"after 1 attempt: HTTP {status}") as caught:
        client(endpoint, waits).complete(HELLO)
    assert "sk-very-secret" not in str(caught.value)
    assert isinstance(caught.value, EngineFailure)
    assert waits == []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer("Incorrect API key", status=401), "HTTP 401: Incorrect API key"),
        (Answer(body=b'{"detail": "Not Found"}', status=404), "HTTP 404: {'detail': 'Not Found'}"),
        (Answer(body=b"<html>\n<body>oops</body>", status=500), "HTTP 500: <html> <body>oops</body>"),
        (Answer(body=b"", status=503), "HTTP 503: Service Unavailable"),
        (
            Answer(body=b"<html>a portal</html>", headers={"Content-Type": "text/html"}),
            "the reply is no chat completion: <html>a portal</html>",
        ),
        (Answer("x" * 200, status=400), f"HTTP 400: {'x' * 59}…"),
        (Answer("x" * 50 + "sk-very-secret", status=400), f"HTTP 400: {'x' * 50}***"),
    ],
)
def test_a_failure_says_in_one_line_why(endpoint, waits, answer, reason):
    endpoint.default = answer
    with pytest.raises(ChatFailure) as caught:
        client(endpoint, waits, max_retries=0).complete(HELLO)
    assert caught.value.reason == reason
    assert str(caught.value) == f"tiny gave no reply after 1 attempt: {reason}"
    assert pickle.loads(pickle.dumps(caught.value)).reason == reason


def test_silence_beyond_the_timeout_is_retried(endpoint, waits):
    endpoint.script = [Answer(silence_s=5.0)]
    assert client(endpoint, waits, timeout_s=0.2).complete(HELLO).text == "hi"
    endpoint.default = Answer(silence_s=5.0)
    with pytest.raises(ChatFailure, match=r"no answer within 0\.2 s"):
        client(endpoint, waits, timeout_s=0.2, max_retries=1).complete(HELLO)


@pytest.mark.parametrize("body", [b'{"choices": [', b"[]", b'{"choices": []}', b'"text"', b"{}"])
def test_an_unreadable_body_is_a_failure_not_a_reply(endpoint, waits, body):
    endpoint.script = [Answer(body=body)]
    assert client(endpoint, waits).complete(HELLO).text == "hi"
    endpoint.default = Answer(body=body)
    with pytest.raises(ChatFailure, match="the reply"):
        client(endpoint, waits, max_retries=1).complete(HELLO)


def test_nobody_listening(waits):
    with FakeEndpoint() as gone:
        url = gone.url
    with pytest.raises(ChatFailure, match="no connection"):
        ChatClient("tiny", base_url=url, max_retries=1, sleep=waits.append).complete(HELLO)
    assert len(waits) == 1


def test_every_attempt_is_logged_without_the_key(endpoint, waits, tmp_path):
    log = tmp_path / "logs" / "chat.jsonl"
    endpoint.script = [Answer("no sk-very-secret here", status=500)]
    client(endpoint, waits, log=log).complete(HELLO, max_tokens=3)
    first, second = read_lines(log)
    assert "HTTP 500" in first["error"]
    assert (second["text"], second["attempt"], second["messages"]) == ("hi", 1, HELLO)
    assert second["options"]["max_tokens"] == 3
    assert "sk-very-secret" not in log.read_text()


def test_copies_reopen_and_pickles_hold_no_key(endpoint, waits, monkeypatch):
    original = client(endpoint, waits, sleep=print)
    assert copy.deepcopy(original).complete(HELLO).text == "hi"
    stored = pickle.dumps(original)
    assert b"sk-very-secret" not in stored
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    assert pickle.loads(stored).complete(HELLO).text == "hi"
    assert endpoint.keys == ["Bearer sk-very-secret", "Bearer from-the-environment"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": " "}, "model must be the name of a model"),
        ({"timeout_s": 0}, "timeout_s must be a positive number, not 0"),
        ({"max_retries": -1}, r"max_retries must be an integer in \[0, 20\], not -1"),
        ({"max_retries": True}, "max_retries must be an integer"),
        ({"temperature": -1.0}, "temperature must be a non-negative number"),
        ({"temperature": float("nan")}, "temperature must be a non-negative number"),
        ({"seed": 1.5}, "seed must be a non-negative integer"),
        ({"base_url": "notaurl"}, "base_url must be a web address such as http://.*, not 'notaurl'"),
        ({"base_url": "ftp://host/v1"}, "base_url must be a web address"),
        ({"base_url": "http://"}, "base_url must be a web address"),
        ({"base_url": "http://host:99999/v1"}, "base_url must be a web address"),
        ({"base_url": "http://[::1/v1"}, "base_url must be a web address"),
        ({"base_url": 8000}, "base_url must be a web address"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        ChatClient(**{"model": "tiny", "base_url": "http://127.0.0.1:1/v1", **arguments})


@pytest.mark.parametrize("messages", [[], [{"content": "no role"}]])
def test_bad_messages(endpoint, waits, messages):
    with pytest.raises(InvalidInput, match="messages must be mappings"):
        client(endpoint, waits).complete(messages)
    assert endpoint.requests == []


def test_an_unknown_option_is_the_callers_mistake(endpoint, waits):
    with pytest.raises(InvalidInput, match="the request cannot be made"):
        client(endpoint, waits).complete(HELLO, max_tokns=3)


def test_without_key_and_endpoint(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InvalidInput, match="no API key: pass api_key=, set OPENAI_API_KEY"):
        ChatClient("tiny")


def test_an_endpoint_in_the_environment_is_checked_too(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8000")
    with pytest.raises(InvalidInput, match="OPENAI_BASE_URL must be a web address such as"):
        ChatClient("tiny")


def test_without_the_openai_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingDependency, match=r'pip install "scisuite\[llm\]"'):
        ChatClient("tiny", base_url="http://127.0.0.1:1/v1")


def test_the_client_imports_openai_on_use_only():
    heavy = "{'openai', 'torch', 'transformers'}"
    code = f"import sys, scisuite.core.chat, scisuite.core.local_model; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_replies_survive_and_the_later_line_counts(tmp_path):
    path = tmp_path / "deep" / "replies.jsonl"
    cache = ReplyCache(path)
    key = ReplyCache.key("how hot?", "tiny")
    assert key not in cache
    cache.put(key, {"value": 1}, prompt="how hot?")
    cache.put(key, {"value": 2})
    assert ReplyCache(path).get(key) == cache.get(key) == {"value": 2}
    assert len(ReplyCache(path)) == 1
    assert ReplyCache.key("how hot?", "other") != key
    assert pickle.loads(pickle.dumps(cache)).get(key) == {"value": 2}


def test_a_torn_last_line_is_passed_over_and_closed(tmp_path):
    path = tmp_path / "replies.jsonl"
    cache = ReplyCache(path)
    cache.put("a", 1)
    whole = path.read_bytes()
    cache.put("b", 2)
    line = path.read_bytes()[len(whole) :]
    for cut in range(1, len(line)):
        path.write_bytes(whole + line[:cut])
        torn = ReplyCache(path)
        assert torn.get("a") == 1
        assert ("b" in torn) == (cut == len(line) - 1)
        torn.put("c", 3)
        again = ReplyCache(path)
        assert (again.get("a"), again.get("c")) == (1, 3)


def test_files_that_cannot_be_written(tmp_path):
    with pytest.raises(InvalidInput, match="is a folder; a reply cache is a file"):
        ReplyCache(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput, match="cannot write"):
        append_line(tmp_path / "file" / "log.jsonl", {"a": 1})


def test_lines_that_are_no_objects_are_passed_over(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1}\nnonsense\n[1]\n' + json.dumps({"b": 2}) + "\n")
    assert read_lines(path) == [{"a": 1}, {"b": 2}]
    assert read_lines(tmp_path / "absent.jsonl") == []
