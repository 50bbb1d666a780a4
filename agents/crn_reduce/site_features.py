"""What a move would do, worked out from observations alone, for policies that judge every action by the same network.

Importing this imports torch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

N_KINDS = 5
N_FEATURES = N_KINDS + 12


@dataclass(frozen=True)
class Sites:
    """Features and legality of every action.

    Attributes
    ----------
    features : float32 (B, A, N_FEATURES)
    legal : bool (B, A)
        As the environment's masks.
    """

    features: Tensor
    legal: Tensor


def site_features(observation: dict[str, Tensor], max_table: float = math.inf) -> Sites:
    """Features of every action of ``sci/CRNReduce-v0``.

    They are the kind of move; whether it is legal; its reward as a share of the present size; the table and the factor
    that it makes; values, degree and keep mark of the variable that it is about; and, since a cluster move is only
    worth what it prepares, what eliminating that variable altogether would bring: whether that can be done, its reward,
    the table it makes, the variables it joins and how many factors then share two variables with the new one. Where
    tables have zeros the sizes are upper bounds.

    Parameters
    ----------
    observation : dict of Tensor
        A batch of observations (B, …).
    max_table : float
        The cap on tables, which observations do not show.
    """
    graph = _Graph(observation)
    n = graph.n
    about, legal = zip(*(move(graph, max_table) for move in (_leaf, _unary, _series, _cluster)), strict=True)
    variable_features = _variable_features(graph, max_table)
    rows = []
    for kind, (now, variable) in enumerate(about):
        marks = torch.zeros(*now.shape[:2], N_KINDS, device=now.device)
        marks[..., kind] = 1.0
        then = variable_features.gather(1, variable[..., None].expand(-1, -1, variable_features.shape[2]))
        rows.append(torch.cat([marks, legal[kind][..., None].float(), now, then], dim=2) * legal[kind][..., None])
    stop = torch.zeros(len(graph.size), 1, N_FEATURES, device=graph.size.device)
    stop[..., N_KINDS - 1] = stop[..., N_KINDS] = 1.0
    may_stop = torch.ones(len(graph.size), 1, dtype=torch.bool, device=graph.size.device)
    assert all(row.shape[1:] == (n, N_FEATURES) for row in rows)
    return Sites(torch.cat([*rows, stop], dim=1), torch.cat([*legal, may_stop], dim=1))


Move = tuple[tuple[Tensor, Tensor], Tensor]
"""Of n sites: (reward, table, variables) (B, n, 3) and the variable (B, n); whether it is legal (B, n)."""


class _Graph:
    """Quantities that several moves need; F factors and V variables, both n of them."""

    def __init__(self, observation: dict[str, Tensor]) -> None:
        self.held = observation["incidence"].float()
        self.n = self.held.shape[1]
        self.card = observation["cardinalities"].float().clamp(min=1.0)
        self.log_card = self.card.log()
        self.degree = observation["degrees"].float()
        self.free = observation["keep"].float() < 0.5
        self.log_entries = observation["log_table_sizes"].float()
        self.molecularity, cap, species, reactions = observation["globals"].float().unbind(1)
        self.cap = torch.where(cap > 0, cap, torch.full_like(cap, math.inf))
        self.size = (species + reactions).clamp(min=1.0)
        self.scope = self.held.sum(2)
        self.edge_cost = 5 * self.card + 2
        self.variable_cost = 3 * self.card + 1
        self.edges = (self.held @ self.edge_cost[..., None])[..., 0]
        self.cost = self.log_entries.exp() * self.scope + self.edges
        self.shared = self.held @ self.held.transpose(1, 2)
        place = torch.arange(self.n, device=self.held.device)
        self.first = self.held.argmax(1)
        self.last = (self.held * (place[:, None] + 1)).argmax(1)
        self.about = self.held.argmax(2)

    def of_factor(self, values: Tensor, place: Tensor) -> Tensor:
        return values.gather(1, place)

    def now(self, saved: Tensor, log_entries: Tensor, scope: Tensor) -> Tensor:
        return torch.stack([saved / self.size[:, None] * 5, log_entries / 5, scope / 5], dim=2)

    def fits(self, log_entries: Tensor, scope: Tensor, log_a: Tensor, log_b: Tensor, max_table: float) -> Tensor:
        """Whether the caps allow a factor; shapes (B, …)."""
        lead = (slice(None), *(None for _ in range(scope.dim() - 1)))
        small = log_entries <= torch.maximum(log_a, log_b).clamp(min=math.log(max_table)) + 1e-4
        return small & ((scope <= self.cap[lead]) | (scope <= self.molecularity[lead]))


def _leaf(graph: _Graph, max_table: float) -> Move:
    place = graph.first
    scope, log_entries = graph.of_factor(graph.scope, place), graph.of_factor(graph.log_entries, place)
    legal = (graph.degree == 1) & graph.free & (scope > 1)
    after = (log_entries - graph.log_card).exp() * (scope - 1)
    saved = log_entries.exp() * scope - after + graph.edge_cost + graph.variable_cost
    variable = torch.arange(graph.n, device=place.device).expand_as(place)
    return (graph.now(saved, log_entries - graph.log_card, scope - 1), variable), legal


def _unary(graph: _Graph, max_table: float) -> Move:
    variable = graph.about
    legal = (graph.scope == 1) & (graph.degree.gather(1, variable) > 1)
    return (graph.now(graph.cost, torch.zeros_like(graph.cost), torch.ones_like(graph.cost)), variable), legal


def _series(graph: _Graph, max_table: float) -> Move:
    a, b = graph.first, graph.last
    log_a, log_b = graph.of_factor(graph.log_entries, a), graph.of_factor(graph.log_entries, b)
    scope = graph.of_factor(graph.scope, a) + graph.of_factor(graph.scope, b) - 2
    log_entries = log_a + log_b - 2 * graph.log_card
    shared = graph.shared.flatten(1).gather(1, a * graph.n + b)
    legal = (graph.degree == 2) & graph.free & (shared == 1) & (scope > 0)
    legal &= graph.fits(log_entries, scope, log_a, log_b, max_table)
    before = graph.of_factor(graph.cost, a) + graph.of_factor(graph.cost, b) + graph.variable_cost
    edges = graph.of_factor(graph.edges, a) + graph.of_factor(graph.edges, b) - 2 * graph.edge_cost
    saved = before - log_entries.exp() * scope - edges
    variable = torch.arange(graph.n, device=a.device).expand_as(a)
    return (graph.now(saved, log_entries, scope), variable), legal


def _cluster(graph: _Graph, max_table: float) -> Move:
    n = graph.n
    back = graph.held.transpose(1, 2)
    through = (graph.held * graph.log_card[:, None]) @ back
    edges = (graph.held * graph.edge_cost[:, None]) @ back
    log_a, log_b = graph.log_entries[:, :, None], graph.log_entries[:, None, :]
    log_entries = log_a + log_b - through
    scope = graph.scope[:, :, None] + graph.scope[:, None, :] - 1
    wide = graph.scope > 1
    legal = (graph.shared == 1) & wide[:, :, None] & wide[:, None, :]
    legal = legal.triu(1) & graph.fits(log_entries, scope, log_a, log_b, max_table)
    before = graph.cost[:, :, None] + graph.cost[:, None, :]
    saved = before - log_entries.exp() * scope - (graph.edges[:, :, None] + graph.edges[:, None, :] - edges)
    # The k-th legal pair stands at site k: a stable sort brings the legal pairs to the front in their order.
    flat = legal.flatten(1)
    order = (~flat).to(torch.uint8).sort(dim=1, stable=True).indices[:, :n]
    a, b = order // n, order % n
    both = graph.held.gather(1, a[..., None].expand(-1, -1, n)) * graph.held.gather(1, b[..., None].expand(-1, -1, n))
    chosen = [values.flatten(1).gather(1, order) for values in (saved, log_entries, scope)]
    return (graph.now(*chosen), both.argmax(2)), flat.gather(1, order)


def _variable_features(graph: _Graph, max_table: float) -> Tensor:
    """(B, V, 8): values, degree, keep, and what eliminating each variable would bring."""
    held, n = graph.held, graph.n
    joint = (held.transpose(1, 2) @ held > 0).float() * (1 - torch.eye(n, device=held.device))
    around = joint.sum(2)
    total = _times(graph.scope - 1, held)
    log_entries = _times(graph.log_entries, held) - graph.degree * graph.log_card
    edges = _times(graph.edge_cost, joint)
    before = _times(graph.cost, held) + graph.variable_cost
    saved = before - log_entries.clamp(max=12.0).exp() * around - edges
    none = torch.zeros_like(log_entries)
    possible = (total == around) & (around > 0) & graph.free & (graph.degree > 0)
    possible &= graph.fits(log_entries, around, none, none, max_table)
    clash = (((held @ joint) >= 2) & (held == 0)).float().sum(1)
    worth = (saved / graph.size[:, None] * 5).clamp(min=-5.0)
    return torch.stack(
        [graph.card / 4, graph.degree / 4, graph.free.float(), possible.float(), worth * possible,
         log_entries.clamp(max=12.0) / 5, around / 5, clash / 4],
        dim=2,
    )  # fmt: skip


def _times(rows: Tensor, matrix: Tensor) -> Tensor:
    """(B, F) times (B, F, V)."""
    return (rows[:, None] @ matrix)[:, 0]


def as_batch(observation: dict[str, Any]) -> dict[str, Tensor]:
    """One observation of arrays as a batch of one."""
    return {name: torch.as_tensor(values)[None] for name, values in observation.items()}
