"""The contract that every scenario keeps, as a function that a third party can run on its own."""

from __future__ import annotations

from scisuite.scenarios.base import Scenario


def check_scenario(scenario: str | Scenario) -> None:
    """Fail with ``AssertionError`` if ``scenario`` breaks its contract."""
    if isinstance(scenario, str):
        from scisuite import scenarios

        scenario = scenarios.make(scenario)
    assert scenario.id, "a scenario needs an id"
    scenario.describe()
