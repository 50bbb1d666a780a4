"""A picture of an episode of ``sci/ActiveRCT-v0``: where the budget went, and what it taught."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.envs.active_rct.judge import Judge
from scisuite.scenarios.trials import Logged, Trial, gain_curve
from scisuite.solvers.active_rct.logistic import Logistic
from scisuite.solvers.active_rct.loop import ActiveRCT

Floats = NDArray[np.float64]

WIDTH, HEIGHT, DPI = 960, 600, 100

POOL, MODEL, TRUTH, CHANCE = "#CFCFCF", "#0072B2", "#D55E00", "#4D4D4D"
"""Greys and Okabe and Ito's blue and vermilion; what they mark differs in shape, too."""

SPENT_AREA = (0.075, 0.125, 0.385, 0.69)
EFFECT_AREA = (0.59, 0.585, 0.385, 0.285)
METRIC_AREA = (0.59, 0.125, 0.385, 0.285)

MOST_DOTS = 1500
MOST_KINDS = 12
"""Different units up to which they are counted instead of scattered."""

NAMES = {"pehe": "PEHE", "qini": "Qini", "cumulative_gain": "cumulative gain"}


class Viewer:
    """Draws the episodes of one environment; what depends on the trial alone is worked out once."""

    def __init__(self) -> None:
        self._trial: Trial | None = None
        self._policy = self._along = np.zeros(0)
        self._kinds: tuple[Floats, NDArray[np.int64]] | None = None

    def draw(
        self, trial: Trial, loop: ActiveRCT, judge: Judge, values: Sequence[float], budget: int
    ) -> NDArray[np.uint8]:
        """The frame, uint8 (600, 960, 3), from pool, log, batches and the validation slice.

        Parameters
        ----------
        trial : Trial
        loop : ActiveRCT
        judge : Judge
        values : sequence of float
            The metric at the start and after each batch.
        budget : int
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        if trial is not self._trial:
            self._learn(trial)
        figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI)
        canvas: Any = FigureCanvasAgg(figure)
        axes = [_axes(figure, area) for area in (SPENT_AREA, EFFECT_AREA, METRIC_AREA)]
        if self._kinds is None:
            self._scatter(figure, axes[0], loop)
        else:
            self._count(axes[0], trial, loop)
        effect = loop.learner.effect(trial.validation.x)
        unit = "" if trial.unit == "1" else f" ({trial.unit})"
        if trial.knows_effects:
            _draw_truth(axes[1], effect, trial.validation, unit)
        else:
            _draw_uplift(axes[1], effect, trial.validation, unit)
        if judge.metric == "pehe":
            _draw_values(axes[2], values, [0, *np.cumsum([len(each.units) for each in loop.history])], budget, unit)
        else:
            _draw_gain(axes[2], effect, trial.validation, unit)
        _write(figure, trial, loop, judge, values, budget)
        canvas.draw()
        return np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[..., :3])

    def _learn(self, trial: Trial) -> None:
        self._trial = trial
        log, pool = trial.observational, trial.pool_x
        kinds, member = np.unique(pool[:MOST_DOTS], axis=0, return_inverse=True)
        self._kinds = None
        if len(kinds) <= MOST_KINDS:
            kinds, member = np.unique(pool, axis=0, return_inverse=True)
            if len(kinds) <= MOST_KINDS:
                self._kinds = kinds, member.ravel()
        self._policy = Logistic().fit(log.x, log.t).predict_proba(pool)[:, 1]
        centred = pool - pool.mean(axis=0)
        axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
        self._along = centred @ (axis * np.sign(axis[np.abs(axis).argmax()]))

    def _scatter(self, figure: Any, axes: Any, loop: ActiveRCT) -> None:
        few = slice(0, MOST_DOTS)
        axes.scatter(self._policy[few], self._along[few], s=7, color=POOL, lw=0, zorder=1)
        if loop.history:
            rounds = len(loop.history)
            units = np.concatenate([each.units for each in loop.history])
            number = np.repeat(np.arange(1, rounds + 1), [len(each.units) for each in loop.history])
            dots = axes.scatter(
                self._policy[units], self._along[units], c=number, s=20, cmap="viridis", vmin=0.5, vmax=rounds + 0.5,
                ec="white", lw=0.4, zorder=2,
            )  # fmt: skip
            bar = figure.add_axes((0.30, 0.855, 0.16, 0.018))
            figure.colorbar(dots, cax=bar, orientation="horizontal", ticks=[1, rounds] if rounds > 1 else [1])
            bar.tick_params(labelsize=8.5, length=2, pad=1, labeltop=True, labelbottom=False, top=True, bottom=False)
            figure.text(0.29, 0.864, "batch", size=9.5, ha="right", va="center")
            figure.text(0.075, 0.864, "● pool", size=9.5, va="center", color="#9A9A9A")
        axes.set_xlim(-0.03, 1.03)
        axes.set_xlabel("log's P(treated | x), estimated", size=10)
        axes.set_ylabel("first principal component of x", size=10)

    def _count(self, axes: Any, trial: Trial, loop: ActiveRCT) -> None:
        assert self._kinds is not None
        kinds, member = self._kinds
        n = len(kinds)
        in_pool = np.bincount(member, minlength=n) / len(member)
        units = np.concatenate([each.units for each in loop.history]) if loop.history else np.zeros(0, dtype=np.int64)
        spent = np.bincount(member[units], minlength=n) / max(len(units), 1)
        order = np.argsort([int(row.argmax()) for row in kinds], kind="stable")
        at = np.arange(n)
        axes.bar(at - 0.2, in_pool[order], 0.38, color=POOL, label="pool")
        axes.bar(at + 0.2, spent[order], 0.38, color=MODEL, label="budget")
        policy = [self._policy[member == kind][0] for kind in order]
        names = [_name(trial, kinds[kind], place) for place, kind in enumerate(order)]
        axes.set_xticks(at, [f"{name}\n{p:.2f}" for name, p in zip(names, policy, strict=True)], size=9)
        axes.set_xlabel("kind of unit; log's P(treated | x), estimated", size=10)
        axes.set_ylabel("share of units", size=10)
        axes.set_ylim(0, 1.12 * max(in_pool.max(), spent.max()))
        axes.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, fontsize=9.5, borderaxespad=0.2
        )


def _name(trial: Trial, row: Floats, place: int) -> str:
    """The only covariate that is not 0, or a number."""
    present = np.flatnonzero(row)
    name = trial.features[present[0]] if len(present) == 1 and row[present[0]] == 1 else f"kind {place}"
    return name.replace("_", " ")


def _axes(figure: Any, area: tuple[float, float, float, float]) -> Any:
    axes = figure.add_axes(area)
    axes.tick_params(labelsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _groups(effect: Floats) -> list[NDArray[np.int64]]:
    """Tenths of the units by τ̂, units of equal τ̂ together."""
    level = np.unique(effect, return_inverse=True)[1].ravel()
    order = np.argsort(level, kind="stable")
    cuts = {int(np.searchsorted(level[order], level[order][len(order) * k // 10])) for k in range(1, 10)} - {0}
    return np.split(order, sorted(cuts))


def _draw_truth(axes: Any, effect: Floats, held_out: Logged, unit: str) -> None:
    assert held_out.tau is not None
    few = slice(0, MOST_DOTS // 2)
    axes.scatter(effect[few], held_out.tau[few], s=6, color=POOL, lw=0, zorder=1)
    ends = np.array([min(effect.min(), held_out.tau.min()), max(effect.max(), held_out.tau.max())])
    axes.plot(ends, ends, color=CHANCE, lw=1.2, ls="--", zorder=2, label="τ̂ = τ")
    groups = _groups(effect)
    means = np.array([[effect[group].mean(), held_out.tau[group].mean()] for group in groups])
    label = "mean of a tenth" if len(groups) > 4 else "mean of equal τ̂"
    axes.plot(*means.T, color=MODEL, lw=0, marker="o", ms=5.5, mec="white", mew=0.6, zorder=3, label=label)
    axes.set_xlabel(f"estimated effect τ̂{unit}", size=10)
    axes.set_ylabel(f"true effect τ{unit}", size=10)
    _legend(axes)


def _draw_uplift(axes: Any, effect: Floats, held_out: Logged, unit: str) -> None:
    """Difference of the arms' means with its standard error."""
    axes.axhline(0, color=CHANCE, lw=0.8)
    rows = []
    for group in _groups(effect):
        arms = [held_out.y[group][held_out.t[group] == arm] for arm in (0, 1)]
        if min(len(arm) for arm in arms) > 1:
            error = np.sqrt(sum(arm.var(ddof=1) / len(arm) for arm in arms))
            rows.append((effect[group].mean(), arms[1].mean() - arms[0].mean(), error))
    axes.set_xlabel(f"estimated effect τ̂{unit}", size=10)
    axes.set_ylabel(f"uplift Ȳ(1) − Ȳ(0){unit}", size=10)
    if not rows:
        axes.text(0.5, 0.5, "too few units in each tenth", ha="center", va="center", transform=axes.transAxes)
        return
    x, y, error = np.array(rows).T
    low, high = (float(bound) for bound in (min(x.min(), y.min()), max(x.max(), y.max())))
    axes.plot([low, high], [low, high], color=CHANCE, lw=1.2, ls="--", label="as estimated")
    axes.errorbar(x, y, error, color=MODEL, lw=0, elinewidth=1.3, marker="o", ms=5, label="tenth, ± standard error")
    _legend(axes)


def _draw_values(axes: Any, values: Sequence[float], spent: Sequence[int], budget: int, unit: str) -> None:
    axes.plot(spent, values, color=MODEL, lw=2, marker="o", ms=4)
    axes.set_xlim(0, budget * 1.02)
    axes.set_ylim(0, 1.1 * max(max(values), 1e-9))
    axes.set_xlabel("units randomised", size=10)
    axes.set_ylabel(f"PEHE{unit}", size=10)
    axes.grid(axis="y", color="#E6E6E6", lw=0.8)


def _draw_gain(axes: Any, effect: Floats, held_out: Logged, unit: str) -> None:
    k, q = gain_curve(effect, held_out.t, held_out.y)
    axes.plot(k / k[-1], q, color=MODEL, lw=2, label="highest τ̂ first")
    axes.plot([0, 1], [0, q[-1]], color=CHANCE, lw=1.2, ls="--", label="random order")
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of units targeted", size=10)
    axes.set_ylabel(f"additional outcomes{unit}", size=10)
    _legend(axes)


def _legend(axes: Any) -> None:
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, fontsize=9, borderaxespad=0.1,
        handlelength=1.4, columnspacing=1.2,
    )  # fmt: skip


def _write(figure: Any, trial: Trial, loop: ActiveRCT, judge: Judge, values: Sequence[float], budget: int) -> None:
    rounds = len(loop.history)
    spent = f"{loop.n_spent:,} of {budget:,} units, {rounds} batch{'es' * (rounds != 1)}"
    name = trial.name if len(trial.name) <= 20 else f"{trial.name[:19]}…"
    figure.text(0.02, 0.955, f"where the budget of {name} went", size=12.5, weight="bold", va="center")
    figure.text(0.02, 0.912, spent, size=10.5, va="center")
    figure.text(0.53, 0.955, "effect, validation slice", size=12.5, weight="bold", va="center")
    figure.text(0.975, 0.955, "in units of the outcome", size=10, va="center", ha="right")
    title = f"{NAMES[judge.metric]} {values[-1]:.3f}, at the start {values[0]:.3f}"
    figure.text(0.53, 0.478, title, size=12.5, weight="bold", va="center")
