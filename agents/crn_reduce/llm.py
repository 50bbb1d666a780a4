"""A language model that plays from a description of the board."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scisuite.agents.crn_reduce.base import ReducingAgent
from scisuite.core import InvalidInput
from scisuite.core.chat import ChatModel
from scisuite.envs.crn_reduce.env import CRNReduceEnv

RULES = """\
You shrink a factor graph, and with it the chemical reaction network it compiles to. Leaf and unary moves always pay. \
A series move multiplies the two factors of a variable and sums it out. A cluster move multiplies two factors that \
share one variable; it may cost something now and let that variable be eliminated later. Two factors that share two \
variables can never be merged. Make the network as small as you can, then stop. Answer with the number of one legal \
action."""

LONGEST_REPLY = 16


class LanguageModelAgent(ReducingAgent):
    """Asks a language model which legal action to take, once a step, and takes the first number of its reply.

    What is no legal action counts as STOP, and is kept in ``misread``.

    Parameters
    ----------
    model : ChatModel, str or None
        A model object; the name of a model behind an OpenAI-compatible endpoint
        (:class:`~scisuite.core.chat.ChatClient`); or ``None`` for the one on this machine
        (:class:`~scisuite.core.local_model.LocalModel`).
    rules : str
        What the model is told first.
    **config
        Arguments of :class:`~scisuite.core.chat.ChatClient`, such as ``base_url`` and ``log``.

    Attributes
    ----------
    misread : list of str
        Replies of this episode that named no legal action.

    Raises
    ------
    InvalidInput
        If an argument is of the wrong kind; as the model's class does.
    MissingDependency, DataUnavailable
        If the model's packages are not installed.
    """

    name = "llm"

    def __init__(self, model: ChatModel | str | None = None, rules: str = RULES, **config: Any) -> None:
        super().__init__()
        if not isinstance(rules, str) or not rules.strip():
            raise InvalidInput("rules must be a text")
        self.rules = rules
        self.model: Any = _model(model, config)
        self.misread: list[str] = []

    def _begin(self, seed: int) -> None:
        self.misread = []

    def _choose(self, env: CRNReduceEnv) -> int | None:
        messages = [{"role": "system", "content": self.rules}, {"role": "user", "content": env.describe()}]
        text = self.model.complete(messages, max_tokens=LONGEST_REPLY).text
        found = re.search(r"\d+", text)
        action = int(found.group()) if found else None
        if action == env.task.stop or action in env.actions:
            return action
        self.misread.append(text)
        return None


def _model(model: Any, config: Mapping[str, Any]) -> Any:
    if isinstance(model, str):
        from scisuite.core.chat import ChatClient

        return ChatClient(model, **config)
    if config:
        raise InvalidInput(f"{', '.join(sorted(config))}: arguments are for a model that is given by its name")
    if model is None:
        from scisuite.core.local_model import LocalModel

        return LocalModel()
    if not callable(getattr(model, "complete", None)):
        raise InvalidInput(f"model must be a name or have a method complete, not {type(model).__name__}")
    return model
