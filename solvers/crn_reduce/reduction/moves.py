"""The exact moves: each keeps the fixed points of belief propagation on the variables that stay.

In all of them ψ are tables, m messages as in :func:`~scisuite.solvers.crn_reduce.belief_propagation.bp`, b beliefs, F
the Bethe free energy. Fixed points before and after correspond one to one: the messages that a move removes are
functions of those that stay. All moves keep Σ_x Π_f ψ_f(x_f) too, powers of two and constants being moved into
``log_scale``.

Sources: leaf and unary are the beat points of Montes & Sergeant-Perthuis's posets (their scheme as we reconstruct it);
the others are ours. Every function changes the draft, records the move there and returns it; what it refuses leaves the
draft as it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np

from scisuite.core import InvalidInput
from scisuite.core.registry import did_you_mean
from scisuite.solvers.crn_reduce.reduction.draft import Draft
from scisuite.solvers.crn_reduce.reduction.errors import NotExactError
from scisuite.solvers.crn_reduce.reduction.record import Move
from scisuite.solvers.crn_reduce.reduction.tables import (
    contracted,
    exactly,
    factorised,
    find_factorisation,
    joined,
    multiplied_along,
    possible_values,
    summed_out,
)


def leaf(draft: Draft, variable: str) -> Move:
    """Sum a variable out of the only factor f that holds it: ψ_f ← Σ_v ψ_f.

    Nothing but f speaks to v, so m_{v→f} is 1 and every message of f is the same sum as before. In F, v has the weight
    deg v − 1 = 0, and Σ b_f ln(b_f/ψ_f) with b_f = b_f′·ψ_f/Σ_v ψ_f is Σ b_f′ ln(b_f′/Σ_v ψ_f).

    Raises
    ------
    NotExactError
        If the variable is kept, is not in exactly one factor, or that factor is about nothing else.
    """
    draft.require_free(variable)
    held = draft.holders[variable]
    if len(held) != 1:
        raise NotExactError(f"variable {variable!r} is no leaf: it is in {_several(held)}")
    (factor,) = held
    scope = draft.scopes[factor]
    if len(scope) == 1:
        raise NotExactError(f"variable {variable!r} is no leaf: its only factor {factor!r} is about nothing else")
    axis = scope.index(variable)
    operand = draft.operand(factor, with_table=True)
    table, exponent = exactly(partial(summed_out, axis=axis), draft.tables[factor])
    draft.replace(factor, scope[:axis] + scope[axis + 1 :], table)
    draft.forget(variable)
    return draft.record(Move("leaf", variable, (operand,), exponent=exponent))


def unary(draft: Draft, factor: str, into: str | None = None) -> Move:
    """Multiply a unary factor u of v into another factor f of v, by default the first: ψ_f ← ψ_f·ψ_u.

    m_{u→v} is the constant ψ_u. It reached f's sums inside m_{v→f}, it is now in ψ_f: the same sums. To v's other
    factors and to b_v it comes inside m_{f→v}. In F, b_u = b_v: Σ b_u ln b_u leaves as one of v's entropies does, and
    Σ b_v ln ψ_u moves into f's term.

    Raises
    ------
    NotExactError
        If the factor is not unary, its variable has no other, or ``into`` does not hold the variable.
    """
    draft.require_factor(factor)
    scope = draft.scopes[factor]
    if len(scope) != 1:
        raise NotExactError(f"factor {factor!r} is not unary: it is about {', '.join(scope)}")
    (variable,) = scope
    if into is None:
        into = next((other for other in draft.holders[variable] if other != factor), None)
        if into is None:
            raise NotExactError(f"factor {factor!r} is the only one of variable {variable!r}: nothing can take it in")
    draft.require_factor(into)
    if into == factor or into not in draft.holders[variable]:
        raise NotExactError(f"factor {into!r} cannot take in {factor!r}: it is no other factor of {variable!r}")
    operands = (draft.operand(into), draft.operand(factor))
    axis = draft.scopes[into].index(variable)
    product = partial(multiplied_along, axis=axis)
    table, exponent = exactly(product, draft.tables[into], draft.tables[factor])
    draft.replace(into, draft.scopes[into], table)
    draft.drop(factor)
    return draft.record(Move("unary", variable, operands, exponent=exponent))


def series(draft: Draft, variable: str) -> Move:
    """Sum a variable of two factors a and b, which share nothing else, out of their product: ψ ← Σ_v ψ_a ψ_b.

    m_{v→b} = m_{a→v} is a sum over a's other variables. Put into b's sums it gives those of the new factor, since the
    two scopes have nothing else in common. v's entropy, of weight 1, and the two factors' terms make that of the new
    factor, whose conditional belief of v is ψ_a ψ_b/Σ_v ψ_a ψ_b.

    Raises
    ------
    NotExactError
        If the variable is kept, is not in exactly two factors, they share another one too, or they hold nothing else.
    """
    draft.require_free(variable)
    held = draft.holders[variable]
    if len(held) != 2:
        raise NotExactError(f"variable {variable!r} is not between two factors: it is in {_several(held)}")
    a, b = held
    _require_one_shared(draft, a, b)
    scope_a, scope_b = draft.scopes[a], draft.scopes[b]
    if len(scope_a) == len(scope_b) == 1:
        raise NotExactError(f"variable {variable!r} is all that factors {a!r} and {b!r} are about")
    operands = (draft.operand(a, with_table=True), draft.operand(b, with_table=True))
    product = partial(contracted, axis_a=scope_a.index(variable), axis_b=scope_b.index(variable))
    table, exponent = exactly(product, draft.tables[a], draft.tables[b])
    draft.replace(a, tuple(v for v in scope_a + scope_b if v != variable), table)
    draft.drop(b)
    draft.forget(variable)
    return draft.record(Move("series", variable, operands, exponent=exponent))


def cluster(draft: Draft, first: str, second: str) -> Move:
    """Multiply two factors a and b that share exactly one variable v, which stays: ψ ← ψ_a ψ_b.

    The new factor's message to one of a's variables sums over b's, which are not in a, separately for each value of v:
    that inner sum is m_{b→v}, and times v's messages from elsewhere it is the old m_{v→a}. Its message to v is
    m_{a→v} m_{b→v}. v's weight in F falls by the entropy that b_new = b_a b_b/b_v brings.

    Raises
    ------
    NotExactError
        If they share no or several variables. (Messages about several variables one by one are not what a message about
        them together is: merging would move the fixed points.)
    """
    for factor in (first, second):
        draft.require_factor(factor)
    if first == second:
        raise NotExactError(f"factor {first!r} cannot be merged with itself")
    (variable,) = _require_one_shared(draft, first, second)
    scope_a, scope_b = draft.scopes[first], draft.scopes[second]
    operands = (draft.operand(first), draft.operand(second))
    product = partial(joined, axis_a=scope_a.index(variable), axis_b=scope_b.index(variable))
    table, exponent = exactly(product, draft.tables[first], draft.tables[second])
    draft.replace(first, scope_a + tuple(v for v in scope_b if v != variable), table)
    draft.drop(second)
    return draft.record(Move("cluster", variable, operands, exponent=exponent))


def support(draft: Draft, variable: str) -> Move:
    """Take from a variable the values at which some factor's table is all zero, or the variable if one value stays.

    If ψ_f is zero wherever x_v = k then m_{f→v}(k) = 0, so m_{v→g}(k) = 0 for v's other factors g: what they say about
    k reaches nobody, and f's own sums have no such terms. Only the messages to v about k, and by that the scale of
    messages to v, are gone. All beliefs at k are 0, and 0 ln 0 = 0 in F. A variable of one value has belief 1, entropy
    0, and constant messages: it is cut out of the tables; a factor that was about nothing else is a number, and goes
    into ``log_scale``.

    Raises
    ------
    NotExactError
        If the variable is kept, or all of its values are possible and more than one.
    InvalidInput
        If none is possible.
    """
    draft.require_free(variable)
    card, held = draft.card[variable], tuple(draft.holders[variable])
    possible = np.ones(card, dtype=bool)
    for factor in held:
        possible &= possible_values(draft.tables[factor], draft.scopes[factor].index(variable))
    values = tuple(np.flatnonzero(possible).tolist())
    if not values:
        raise InvalidInput(
            f"the graph (or the evidence it was given) is impossible: zeros of {_several(held)} leave variable "
            f"{variable!r} no value"
        )
    if len(values) == card > 1:
        raise NotExactError(f"all {card} values of variable {variable!r} are possible")
    chosen: int | tuple[int, ...] = values[0] if len(values) == 1 else values
    cut = {f: np.take(draft.tables[f], chosen, axis=draft.scopes[f].index(variable)) for f in held}
    operands = tuple(draft.operand(factor) for factor in held)
    if len(values) > 1:
        draft.restrict(variable, values)
    for factor, table in cut.items():
        rest = draft.scopes[factor]
        if len(values) == 1:
            rest = tuple(v for v in rest if v != variable)
        if rest:
            draft.replace(factor, rest, table)
        else:
            draft.add_to_log_scale(math.log(float(table)))
            draft.drop(factor)
    if len(values) == 1:
        draft.forget(variable)
    return draft.record(Move("support", variable, operands, values=values, card=card))


def split(draft: Draft, factor: str, part: Sequence[str] | None = None) -> Move:
    """Replace a factor whose table is a product of one over some of its variables and one over the others by the two.

    Its messages to a variable of one part are those of that part times a constant, the other's sum; beliefs and F are
    sums of the parts'. Accepted if every entry is the product's to a part of 1e-13 (zeros exactly), which is the only
    move that is exact to rounding alone: after it beliefs may differ in the 13th digit.

    Parameters
    ----------
    part : sequence of str, optional
        Variables of the part that keeps the name; by default a split is looked for.

    Raises
    ------
    NotExactError
        If ``part`` is not a proper part of the scope, or the table is no such product.
    """
    draft.require_factor(factor)
    scope = draft.scopes[factor]
    if part is None:
        axes = find_factorisation(draft.tables[factor])
        if axes is None:
            raise NotExactError(f"the table of factor {factor!r} is no product of two")
    else:
        axes = tuple(i for i, v in enumerate(scope) if v in part)
        if not 0 < len(axes) == len(set(part)) < len(scope):
            raise NotExactError(f"{', '.join(part)} are not some and not all of {', '.join(scope)}")
    tables = factorised(draft.tables[factor], axes)
    if tables is None:
        some = ", ".join(scope[i] for i in axes)
        raise NotExactError(f"the table of factor {factor!r} is no product of one of {some} and one of the others")
    operand = draft.operand(factor)
    names = (factor, draft.unused_name(factor))
    scopes = tuple(scope[i] for i in axes), tuple(v for i, v in enumerate(scope) if i not in axes)
    for new in zip(names, scopes, tables, strict=True):
        draft.replace(*new)
    results = tuple(draft.operand(name, with_table=True) for name in names)
    return draft.record(Move("split", "", (operand,), results=results))


MOVES: Mapping[str, Callable[..., Move]] = MappingProxyType(
    {"leaf": leaf, "unary": unary, "series": series, "cluster": cluster, "support": support, "split": split}
)
"""The moves by name."""


def require_move(kind: str) -> Callable[..., Move]:
    """The move of that name.

    Raises
    ------
    NotExactError
        If there is none.
    """
    if kind not in MOVES:
        raise NotExactError(
            f"there is no exact move {kind!r}{did_you_mean(str(kind), MOVES)} (Merging what is alike, as lifting and "
            "colour passing do, keeps symmetric fixed points only.)"
        )
    return MOVES[kind]


def _require_one_shared(draft: Draft, a: str, b: str) -> tuple[str, ...]:
    shared = draft.shared_by(a, b)
    if len(shared) != 1:
        what = f"share {len(shared)} variables ({', '.join(shared)})" if shared else "share no variable"
        why = "merging them would move belief propagation's fixed points" if shared else "there is nothing to merge"
        raise NotExactError(f"factors {a!r} and {b!r} {what}: {why}")
    return shared


def _several(factors: Sequence[str] | Mapping[str, None]) -> str:
    names = list(factors)
    listed = f"{', '.join(names[:5])}{f' and {len(names) - 5} more' if len(names) > 5 else ''}"
    return f"{len(names)} factor{'' if len(names) == 1 else 's'}{f' ({listed})' if names else ''}"
