"""Which variables ``--keep`` means."""

from __future__ import annotations

from collections.abc import Sequence

from scisuite.bench.crn.models import Model
from scisuite.core import InvalidInput
from scisuite.core.registry import did_you_mean


def kept_variables(model: Model, words: Sequence[str]) -> tuple[str, ...]:
    """The variables that are called so, or of whose belief pools a species is; each once, in the order given.

    Where a word is both, a model with our annotation means the variable, another the species.

    Raises
    ------
    InvalidInput
        If a word is neither, with the nearest; or it is a species of another pool, with that.
    """
    place = {name: i for i, name in enumerate(model.crn.species)}
    return tuple(dict.fromkeys(_variable(model, word, place) for word in words))


def belief_species(model: Model, variable: str) -> tuple[str, ...]:
    """The value species of a variable's belief pool, in order of their values."""
    from scisuite.solvers.crn_reduce.network import BELIEF, PoolKey

    return model.species(model.pools.species_of(model.pools.number[PoolKey(BELIEF, variable)]).tolist())


def _variable(model: Model, word: str, place: dict[str, int]) -> str:
    from scisuite.solvers.crn_reduce.network import BELIEF

    if word in model.graph.card and (model.annotated or word not in place):
        return word
    if word not in place:
        raise InvalidInput(f"--keep: {_unknown(model, word)}")
    key = model.pools.keys[model.pools.pool_of[place[word]]]
    if key.kind != BELIEF:
        raise InvalidInput(
            f"--keep: {word} is a species of the pool {key}, not of a belief's; "
            f"'scisuite crn check {model.path}' lists those"
        )
    variable: str = key.variable
    return variable


def _unknown(model: Model, word: str) -> str:
    if model.annotated:
        return f"there is no variable {word!r}{did_you_mean(word, model.graph.card)}"
    beliefs = [name for v in model.graph.card for name in belief_species(model, v)]
    return f"there is no species {word!r}, and {model.path} names no variables{did_you_mean(word, beliefs)}"
