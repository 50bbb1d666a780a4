"""One client for every model that talks: any OpenAI-compatible endpoint, with bounded retries and a log.

Oracles and language-model agents share it. A model on this machine is :class:`scisuite.core.local_model.LocalModel`,
which answers :meth:`~ChatClient.complete` likewise; :class:`scisuite.core.replies.ReplyCache` keeps replies.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from scisuite.core.errors import EngineFailure, InvalidInput, MissingDependency
from scisuite.core.replies import append_line
from scisuite.core.seeding import as_seed

Message = Mapping[str, Any]

LONGEST_WAIT_S = 60.0


LONGEST_EXCERPT = 60


class ChatFailure(EngineFailure):
    """An endpoint gave no usable reply, after every retry.

    Attributes
    ----------
    reason : str
        Why the last attempt failed, without the model's name and the number of attempts.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message


@dataclass(frozen=True)
class Reply:
    """What a model said.

    Attributes
    ----------
    text : str
    model : str
        The model that answered, as the endpoint names it.
    usage : mapping
        Tokens: ``prompt_tokens``, ``completion_tokens``, where they are known.
    latency : float
        Seconds from question to answer, of the attempt that succeeded.
    """

    text: str
    model: str
    usage: Mapping[str, int] = field(default_factory=dict)
    latency: float = 0.0


class ChatModel(Protocol):
    """What oracles and agents need of a model: a name and replies."""

    @property
    def name(self) -> str:
        """The model, as a cache key and a report name it."""

    def complete(self, messages: Sequence[Message], **options: Any) -> Reply:
        """Reply to a conversation."""


class ChatClient:
    """A chat model behind an OpenAI-compatible endpoint (extra ``llm``: the ``openai`` package).

    Timeouts, lost connections, unreadable replies, 408, 409, 429 and 5xx are retried, waiting 1, 2, 4, … times
    ``backoff_s`` seconds or as long as the endpoint asks (at most a minute); anything else fails at once.

    Parameters
    ----------
    model : str
    base_url : str or None
        For example ``http://127.0.0.1:8000/v1``; by default ``OPENAI_BASE_URL``, else OpenAI's own.
    api_key : str or None
        By default ``OPENAI_API_KEY``; an endpoint of one's own often needs none. It is never written to the log, and
        not pickled: an unpickled client reads the environment again.
    timeout_s : float
        Longest silence of the endpoint, for each attempt.
    max_retries : int
        Attempts after the first.
    temperature, seed : float, int or None
        Sent with every request; ``seed=None`` sends none.
    log : path or None
        JSON lines, one for each attempt: messages, options, reply or error, latency in seconds.
    backoff_s : float
    sleep : callable
        Waits between attempts; for tests.

    Raises
    ------
    InvalidInput
        If an argument is out of range, the endpoint is no web address, or there is neither a key nor an endpoint of
        one's own.
    MissingDependency
        If the ``openai`` package is absent.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 30.0,
        max_retries: int = 3,
        temperature: float = 0.0,
        seed: int | None = 0,
        log: str | os.PathLike[str] | None = None,
        backoff_s: float = 1.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise InvalidInput(f"model must be the name of a model, not {model!r}")
        if isinstance(max_retries, bool) or not isinstance(max_retries, int) or not 0 <= max_retries <= 20:
            raise InvalidInput(f"max_retries must be an integer in [0, 20], not {max_retries!r}")
        self.model = model
        self.base_url = base_url
        self.timeout_s = _positive("timeout_s", timeout_s)
        self.max_retries = max_retries
        self.temperature = _positive("temperature", temperature, zero=True)
        self.seed = None if seed is None else as_seed(seed)
        self.log = None if log is None else Path(log)
        self.backoff_s = _positive("backoff_s", backoff_s, zero=True)
        self._sleep = sleep
        self._api_key = api_key
        self._client = self._open()

    @property
    def name(self) -> str:
        """The model with what changes its replies: part of a cache key."""
        return f"{self.model}@{self.base_url or 'default'}(temperature={self.temperature:g},seed={self.seed})"

    def complete(self, messages: Sequence[Message], **options: Any) -> Reply:
        """Reply to ``messages`` (mappings with ``role`` and ``content``).

        Parameters
        ----------
        messages : sequence of mappings
        **options
            Further fields of the request (``max_tokens``, ``response_format``, ``tools``, …).

        Raises
        ------
        InvalidInput
            If there is no message, or one lacks its role.
        ChatFailure
            If the endpoint refuses the request, or no attempt brought a reply.
        """
        conversation = [dict(m) for m in messages]
        if not conversation or not all(isinstance(m.get("role"), str) for m in conversation):
            raise InvalidInput('messages must be mappings like {"role": "user", "content": "…"}, at least one')
        request: dict[str, Any] = {"temperature": self.temperature, **options}
        if self.seed is not None:
            request.setdefault("seed", self.seed)
        for attempt in range(self.max_retries + 1):
            started = time.perf_counter()
            try:
                reply = self._ask(conversation, request, started)
            except _Unanswered as failure:
                elapsed = time.perf_counter() - started
                self._write(conversation, request, attempt, error=failure.reason, latency=elapsed)
                if failure.final or attempt == self.max_retries:
                    tries = f"{attempt + 1} attempt{'s' if attempt else ''}"
                    message = f"{self.model} gave no reply after {tries}: {failure.reason}"
                    raise ChatFailure(message, failure.reason) from failure.cause
                self._sleep(min(max(self.backoff_s * 2.0**attempt, failure.wait_s), LONGEST_WAIT_S))
            else:
                self._write(conversation, request, attempt, reply=reply)
                return reply
        raise AssertionError("unreachable")

    def __deepcopy__(self, memo: dict[int, Any]) -> ChatClient:
        return self._reopened(self._api_key)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_client", "_api_key")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._api_key = None
        self._client = self._open()

    def _reopened(self, api_key: str | None) -> ChatClient:
        other = object.__new__(type(self))
        other.__dict__.update(self.__getstate__())
        other._api_key = api_key
        other._client = other._open()
        return other

    def _open(self) -> Any:
        try:
            import openai
        except ModuleNotFoundError as error:
            raise MissingDependency("a chat endpoint needs the openai package", "llm") from error
        name, url = "base_url", self.base_url
        if not url:
            name, url = "OPENAI_BASE_URL", os.environ.get("OPENAI_BASE_URL")
        if url and not _is_web_address(url):
            raise InvalidInput(f"{name} must be a web address such as http://127.0.0.1:8000/v1, not {url!r}")
        key = self._api_key or os.environ.get("OPENAI_API_KEY")
        if not key:
            if not url:
                raise InvalidInput(
                    "no API key: pass api_key=, set OPENAI_API_KEY, or name your own endpoint in base_url="
                )
            key = "none"
        return openai.OpenAI(api_key=key, base_url=self.base_url, timeout=self.timeout_s, max_retries=0)

    def _ask(self, messages: list[dict[str, Any]], request: dict[str, Any], started: float) -> Reply:
        import openai

        try:
            answer = self._client.chat.completions.create(model=self.model, messages=messages, **request)
        except openai.APITimeoutError as error:
            raise _Unanswered(f"no answer within {self.timeout_s:g} s", error) from error
        except openai.APIConnectionError as error:
            raise _Unanswered(self.censored(f"no connection ({error.__cause__ or error})"), error) from error
        except openai.APIStatusError as error:
            code = error.status_code
            final = code < 500 and code not in (408, 409, 429)
            wait = _seconds(error.response.headers.get("retry-after"))
            raise _Unanswered(f"HTTP {code}: {self._excerpt(_said(error))}", error, final, wait) from error
        except (openai.APIError, ValueError) as error:
            raise _Unanswered(f"the reply is unreadable ({type(error).__name__})", error) from error
        except TypeError as error:
            raise InvalidInput(f"the request cannot be made: {error}") from error
        try:
            text = answer.choices[0].message.content
            usage = answer.usage.model_dump() if answer.usage is not None else {}
        except (AttributeError, IndexError, TypeError) as error:
            seen = f": {self._excerpt(answer)}" if isinstance(answer, str) else ""
            raise _Unanswered(f"the reply is no chat completion{seen}", error) from error
        if not isinstance(text, str):
            raise _Unanswered("the reply holds no text", None)
        tokens = {k: v for k, v in usage.items() if isinstance(v, int)}
        return Reply(text, str(answer.model or self.model), tokens, time.perf_counter() - started)

    def censored(self, text: str) -> str:
        """``text`` without the API key."""
        key = str(self._client.api_key)
        return text.replace(key, "***") if len(key) > 4 else text

    def _excerpt(self, text: str) -> str:
        # Censored first: half a key at the end of an excerpt would not be recognised.
        return excerpt(self.censored(text))

    def _write(
        self,
        messages: list[dict[str, Any]],
        request: dict[str, Any],
        attempt: int,
        *,
        reply: Reply | None = None,
        error: str | None = None,
        latency: float = 0.0,
    ) -> None:
        if self.log is None:
            return
        record: dict[str, Any] = {"time": time.time(), "model": self.model, "attempt": attempt}
        record |= {"messages": messages, "options": {k: v for k, v in request.items() if k != "extra_headers"}}
        if reply is None:
            record |= {"error": error, "latency": latency}
        else:
            record |= {
                "text": reply.text,
                "usage": dict(reply.usage),
                "latency": reply.latency,
                "answered_by": reply.model,
            }
        append_line(self.log, record)


class _Unanswered(Exception):
    """One attempt brought no reply; ``final`` where another cannot help."""

    def __init__(self, reason: str, cause: Exception | None, final: bool = False, wait_s: float = 0.0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.cause = cause
        self.final = final
        self.wait_s = wait_s


def excerpt(text: str) -> str:
    """The beginning of ``text`` in one line, for a message.

    >>> excerpt("one  " * 40)
    'one one one one one one one one one one one one one one one…'
    """
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_EXCERPT else f"{line[: LONGEST_EXCERPT - 1].rstrip()}…"


def _said(error: Any) -> str:
    """What an endpoint said of a status: its message where it keeps to the format, else the body as it is."""
    message = error.body.get("message") if isinstance(error.body, dict) else None
    return message if isinstance(message, str) else str(error.body or error.response.reason_phrase)


def _is_web_address(url: Any) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except (AttributeError, TypeError, ValueError):
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0


def _seconds(header: str | None) -> float:
    try:
        seconds = float(header or 0)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0


def _positive(name: str, value: Any, zero: bool = False) -> float:
    ok = not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)
    if not ok or value < 0 or (value == 0 and not zero):
        raise InvalidInput(f"{name} must be a {'non-negative' if zero else 'positive'} number, not {value!r}")
    return float(value)
