"""TARNet, DragonNet and CFR-type networks, with dropout left on for the uncertainty."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput, MissingDependency
from scisuite.scenarios.trials import Logged
from scisuite.solvers.active_rct.learners.refitted import Fusion, Refitted, Rows
from scisuite.solvers.active_rct.logistic import centre_and_spread, varies

Floats = NDArray[np.float64]
Architecture = Literal["tarnet", "dragonnet", "cfr"]

_BATCH = 128
_LEARNING_RATE = 1e-3
_WEIGHT_DECAY = 1e-2
_FARTHEST = 5.0
"""Standardised covariates are cut off here, lest a rare value of the log's be a huge one elsewhere."""


class NeuralLearner(Refitted):
    """A representation shared by both arms and a head of outcomes for each, trained by Adam (reconstruction).

    ``tarnet``: no more than that (Shalit et al. 2017). ``cfr``: plus the squared distance between the arms' mean
    representations, the linear MMD of the same paper. ``dragonnet``: plus a head for the probability of treatment (Shi
    et al. 2019), which for randomised rows is fitted to the known probabilities.

    Covariates are standardised as in the log, whose outcomes ``rct_only`` leaves alone. Every fit goes on from the last
    one's weights, for a fixed number of steps; outcomes keep the scale of the first fit in which they differ. Draws are
    passes with dropout left on, with the same masks for every unit and query of a fit, so that an effect does not
    depend on what else is asked. Nothing touches torch's global generator.

    Parameters
    ----------
    observational, fusion, seed
        See :class:`~scisuite.solvers.active_rct.learners.refitted.Refitted`.
    architecture : {"tarnet", "dragonnet", "cfr"}
    binary : bool or None
        Whether outcomes are 0 and 1: cross-entropy then, and the effect is a difference of probabilities. Otherwise
        squared errors of standardised outcomes. By default what the log's outcomes are.
    width : int
        Of the hidden layers: two of the representation, one of each head.
    dropout : float
        In (0, 1), after each layer of the representation.
    passes : int
        Draws, from 2.
    steps : int
        Of Adam with each fit, on batches of 128.
    penalty : float
        Weight of the distance (``cfr``) or of the treatment head (``dragonnet``); not negative.

    Raises
    ------
    InvalidInput
        If an argument is out of range, or an outcome is not in [0, 1] where they are said to be binary.
    MissingDependency
        Without torch.
    """

    warm_start = True

    def __init__(
        self,
        observational: Logged,
        *,
        architecture: Architecture = "tarnet",
        binary: bool | None = None,
        width: int = 64,
        dropout: float = 0.1,
        passes: int = 30,
        steps: int = 200,
        penalty: float = 1.0,
        fusion: Fusion = "pooled",
        seed: int = 0,
    ) -> None:
        super().__init__(observational, fusion=fusion, seed=seed)
        if architecture not in ("tarnet", "dragonnet", "cfr"):
            raise InvalidInput(f"architecture must be tarnet, dragonnet or cfr, not {architecture!r}")
        if not (isinstance(dropout, int | float | np.floating) and 0 < dropout < 1):
            raise InvalidInput(f"dropout must be in (0, 1), not {dropout!r}")
        if not (isinstance(penalty, int | float | np.floating) and 0 <= penalty < np.inf):
            raise InvalidInput(f"penalty must not be negative, not {penalty!r}")
        self.architecture: Architecture = architecture
        of_log = len(observational) > 0 and bool(np.isin(observational.y, (0, 1)).all())
        self.binary = of_log if binary is None else bool(binary)
        self.width, self.steps = _whole("width", width, 1), _whole("steps", steps, 1)
        self.passes = _whole("passes", passes, 2)
        self.dropout, self.penalty = float(dropout), float(penalty)
        _torch()
        self._weights: dict[str, Any] = {}
        self._masks: list[Any] = []
        self._log_x = observational.x
        self._centre = self._spread = np.zeros(0)
        self._y_centre, self._y_spread = 0.0, 1.0
        self._has_scale = False
        if self.binary and self._log is not None:
            _require_binary(self._log)

    @property
    def _torch(self) -> Any:
        # Not kept: a module cannot be pickled.
        return _torch()

    def observe(self, batch: Logged) -> None:
        """Add a randomised batch; its probabilities must be known."""
        if self.binary:
            _require_binary(batch)
        super().observe(batch)

    def _fit(self, rows: Rows, rng: np.random.Generator) -> None:
        torch = self._torch
        random = torch.Generator().manual_seed(int(rng.integers(2**63)))
        if not self._has_scale:
            # Kept from then on: weights that are carried over mean the same numbers afterwards. Outcomes that are all
            # the same set no scale, and what was fitted to them is given up once others come.
            self._centre, self._spread = centre_and_spread(self._log_x if len(self._log_x) else rows.x)
            self._has_scale = self.binary
            if not self.binary:
                outcome = rows.y[:, None]
                centre, spread = centre_and_spread(outcome)
                self._y_centre, self._y_spread = float(centre[0]), float(spread[0])
                self._has_scale = bool(varies(outcome)[0])
            self._weights = self._initial(rows.x.shape[1], random)
        x = self._inputs(rows.x)
        y = torch.as_tensor((rows.y - self._y_centre) / self._y_spread, dtype=torch.float32)
        t = torch.as_tensor(rows.t, dtype=torch.float32)
        p = torch.as_tensor(np.where(rows.randomised, rows.p, rows.t), dtype=torch.float32)
        optimiser = torch.optim.Adam(self._weights.values(), lr=_LEARNING_RATE, weight_decay=_WEIGHT_DECAY)
        for _ in range(self.steps):
            at = torch.randint(len(y), (min(_BATCH, len(y)),), generator=random)
            masks = [self._mask((len(at), self.width), random) for _ in range(2)]
            loss = self._loss(x[at], t[at], y[at], p[at], masks)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        self._masks = [self._mask((self.passes, 1, self.width), random) for _ in range(2)]

    def _draws(self, x: Floats) -> Floats:
        torch = self._torch
        with torch.no_grad():
            _, untreated, treated, _ = self._forward(self._inputs(x), self._masks)
            if self.binary:
                untreated, treated = torch.sigmoid(untreated), torch.sigmoid(treated)
            return np.asarray((treated - untreated).double().numpy() * self._y_spread)

    def _inputs(self, x: Floats) -> Any:
        standard = np.clip((x - self._centre) / self._spread, -_FARTHEST, _FARTHEST)
        return self._torch.as_tensor(standard, dtype=self._torch.float32)

    def _loss(self, x: Any, t: Any, y: Any, p: Any, masks: list[Any]) -> Any:
        functional = self._torch.nn.functional
        representation, untreated, treated, treatment = self._forward(x, masks)
        predicted = self._torch.where(t == 1, treated, untreated)
        if self.binary:
            loss = functional.binary_cross_entropy_with_logits(predicted, y)
        else:
            loss = functional.mse_loss(predicted, y)
        if self.architecture == "dragonnet":
            loss = loss + self.penalty * functional.binary_cross_entropy_with_logits(treatment, p)
        elif self.architecture == "cfr" and 0 < t.sum() < len(t):
            gap = representation[t == 1].mean(dim=0) - representation[t == 0].mean(dim=0)
            loss = loss + self.penalty * (gap**2).sum()
        return loss

    def _forward(self, x: Any, masks: list[Any]) -> tuple[Any, Any, Any, Any]:
        """Representation, logits or outcomes of both arms, and logit of treatment; of masks (k, 1, width) k passes."""
        elu, weights = self._torch.nn.functional.elu, self._weights
        hidden = x
        for layer, mask in zip(("first", "second"), masks, strict=True):
            hidden = elu(hidden @ weights[f"{layer}.weight"] + weights[f"{layer}.bias"]) * mask
        outcomes = []
        for arm in ("untreated", "treated"):
            inner = elu(hidden @ weights[f"{arm}_hidden.weight"] + weights[f"{arm}_hidden.bias"])
            outcomes.append((inner @ weights[f"{arm}.weight"] + weights[f"{arm}.bias"])[..., 0])
        treatment = (hidden @ weights["treatment.weight"] + weights["treatment.bias"])[..., 0]
        return hidden, outcomes[0], outcomes[1], treatment

    def _initial(self, n_covariates: int, random: Any) -> dict[str, Any]:
        """Uniform weights within 1/√fan-in, as torch's own layers have them, from a generator of our own."""
        shapes = {"first": (n_covariates, self.width), "second": (self.width, self.width), "treatment": (self.width, 1)}
        for arm in ("untreated", "treated"):
            shapes |= {f"{arm}_hidden": (self.width, self.width), arm: (self.width, 1)}
        weights = {}
        for name, (fan_in, fan_out) in shapes.items():
            for kind, shape in (("weight", (fan_in, fan_out)), ("bias", (fan_out,))):
                uniform = self._torch.rand(shape, generator=random) * 2 - 1
                weights[f"{name}.{kind}"] = (uniform / fan_in**0.5).requires_grad_()
        return weights

    def _mask(self, shape: tuple[int, ...], random: Any) -> Any:
        kept = self._torch.rand(shape, generator=random) >= self.dropout
        return kept.float() / (1 - self.dropout)


def _require_binary(rows: Logged) -> None:
    outside = (rows.y < 0) | (rows.y > 1)
    if outside.any():
        row = int(outside.argmax())
        raise InvalidInput(f"an outcome must be in [0, 1] here, not {rows.y[row]:g} in row {row}")


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidInput(f"{name} must be a whole number from {least}, not {value!r}")
    return int(value)


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingDependency("a neural learner needs torch", extra="active-rct") from error
    return torch
