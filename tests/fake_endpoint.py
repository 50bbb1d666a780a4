"""An OpenAI-compatible endpoint on 127.0.0.1 that answers as a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """What the endpoint does with one request: a text, a status, a raw body, or silence for so many seconds."""

    text: str = ""
    status: int = 200
    body: bytes | None = None
    silence_s: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)


class FakeEndpoint:
    """Use as a context manager. ``script`` holds the next answers; once it is empty, ``default`` answers.

    ``default`` may be a function of the request's JSON. ``requests`` keeps what was asked, ``keys`` the API keys.
    """

    def __init__(self, default: Answer | Callable[[dict[str, Any]], Answer] | None = None) -> None:
        self.default = default or Answer('{"value": 0.5}')
        self.script: list[Answer] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def __enter__(self) -> FakeEndpoint:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    outer.requests.append(request)
                    outer.keys.append(self.headers.get("Authorization", ""))
                    answer = outer.script.pop(0) if outer.script else outer.default
                if callable(answer):
                    answer = answer(request)
                if answer.silence_s:
                    outer._stop.wait(answer.silence_s)
                    return
                self.send_response(answer.status)
                body = answer.body if answer.body is not None else outer._completion(request, answer)
                for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        return self

    def __exit__(self, *error: Any) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @staticmethod
    def _completion(request: dict[str, Any], answer: Answer) -> bytes:
        if answer.status != 200:
            return json.dumps({"error": {"message": answer.text or f"status {answer.status}"}}).encode()
        message = {"role": "assistant", "content": answer.text}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        common = {"id": "x", "object": "chat.completion", "created": 0, "model": request["model"]}
        return json.dumps({**common, "choices": [choice], "usage": usage}).encode()
