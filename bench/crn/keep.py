"""Which variables ``--keep`` means."""

from __future__ import annotations

from collections.abc import Sequence

from scisuite.bench.crn.models import Model
from scisuite.core import InvalidInput
from scisuite.core.registry import did_you_mean


def kept_variables(model: Model, words: Sequence[str]) -> tuple[str, ...]:
    """The variables that are called so, or of whose belief pools a species is; each once, in the order given.

    A name of a variable, where the model carries our annotation, comes before the id of a species.

    Raises
    ------
    InvalidInput
        If a word is neither; the message suggests the nearest variable or says what the species is instead.
    """
    from scisuite.solvers.crn_reduce.network import BELIEF

    place = {name: i for i, name in enumerate(model.crn.species)}
    kept = []
    for word in words:
        if model.annotated and word in model.graph.card:
            kept.append(word)
            continue
        if word not in place:
            raise InvalidInput(f"--keep: {_unknown(model, word)}")
        key = model.pools.keys[model.pools.pool_of[place[word]]]
        if key.kind != BELIEF:
            raise InvalidInput(
                f"--keep: {word} is a species of the {key} pool, not of a belief pool; "
                f"'scisuite crn check {model.path}' lists those"
            )
        kept.append(key.variable)
    return tuple(dict.fromkeys(kept))


def belief_species(model: Model, variable: str) -> tuple[str, ...]:
    """The value species of a variable's belief pool, in order of their values."""
    from scisuite.solvers.crn_reduce.network import BELIEF, PoolKey

    return model.species(model.pools.species_of(model.pools.number[PoolKey(BELIEF, variable)]).tolist())


def _unknown(model: Model, word: str) -> str:
    if model.annotated:
        return f"there is no variable {word!r}{did_you_mean(word, model.graph.card)}"
    beliefs = [name for v in model.graph.card for name in belief_species(model, v)]
    return (
        f"{model.path} names no variables, and has no species {word!r}{did_you_mean(word, beliefs)} "
        f"'scisuite crn check {model.path}' lists the species of belief pools"
    )
