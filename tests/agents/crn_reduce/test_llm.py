"""A language model that plays: what it is told, and what is made of its replies."""

from __future__ import annotations

import re
from typing import Any

import gymnasium as gym
import pytest

import scisuite.envs  # noqa: F401
from scisuite.agents import check_agent, run_episode
from scisuite.agents.crn_reduce.llm import LanguageModelAgent
from scisuite.core import InvalidInput
from scisuite.core.chat import Reply

SMALL: dict[str, Any] = {"scenario": "factor_graphs/planning_small", "max_sites": 8, "verify": "never"}


class Reader:
    """Takes the action that saves most, as it is written."""

    name = "reader"

    def __init__(self, form: str = "{}") -> None:
        self.form, self.asked = form, []  # type: ignore[var-annotated]

    def complete(self, messages: Any, **options: Any) -> Reply:
        self.asked.append((messages, options))
        offers = re.findall(r"^  (\d+): .*; saves (\d+)$", messages[-1]["content"], flags=re.MULTILINE)
        best = max(offers, key=lambda offer: int(offer[1]), default=("32", "0"))
        return Reply(self.form.format(best[0]), self.name)


def test_contract_and_what_it_reads() -> None:
    model = Reader("I take action {}.")
    check_agent(LanguageModelAgent(model), "sci/CRNReduce-v0", **SMALL)
    messages, options = model.asked[0]
    assert [m["role"] for m in messages] == ["system", "user"]
    assert messages[1]["content"].startswith("The network has ")
    assert options == {"max_tokens": 16}


def test_reading_well_is_as_good_as_greedy_and_misreading_stops() -> None:
    env = gym.make("sci/CRNReduce-v0", **SMALL)
    agent = LanguageModelAgent(Reader())
    agent.bind(env)
    assert run_episode(env, agent, seed=0).total_reward > 0.2
    assert agent.misread == []
    for form in ("no idea", "9{}9"):
        agent = LanguageModelAgent(Reader(form))
        agent.bind(env)
        assert run_episode(env, agent, seed=0).length == 1
        assert len(agent.misread) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": 3}, "model must be a name or have a method complete, not int"),
        ({"model": Reader(), "log": "x"}, "log: arguments are for a model that is given by its name"),
        ({"rules": " "}, "rules must be a text"),
    ],
)
def test_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        LanguageModelAgent(**arguments)
