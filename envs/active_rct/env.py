"""``sci/ActiveRCT-v0``."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from scisuite.core import InvalidInput, as_seed
from scisuite.envs.active_rct.judge import Judge
from scisuite.envs.active_rct.observation import Terms, pool_view, summary, terms_of
from scisuite.envs.active_rct.task import DRAWN_SEEDS, Source, Task, require_options
from scisuite.envs.errors import EpisodeOver
from scisuite.scenarios.trials import Trial
from scisuite.solvers.active_rct.loop import ActiveRCT, Round
from scisuite.solvers.active_rct.randomisation import Rule
from scisuite.solvers.active_rct.scores import choose_top, score_pool

Ints = NDArray[np.int64]
Observation = Any
Info = dict[str, Any]


class ActiveRCTEnv(gym.Env[Any, Any]):
    """Spend the budget of a randomised trial, batch by batch, where a biased log helps least.

    There is a large log of what was done to whom and what came of it; the policy behind it was confounded and hardly
    ever tried some things on some people. And there is a budget: so many units of a pool may be randomised with a known
    probability. After each batch the model of the treatment effect learns, and the next batch can be chosen by how
    unsure the model is of a unit (v), how unlike the data at hand it is (d), and how near the historical policy came to
    being deterministic about it (o).

    Observation
    -----------
    ``Box`` float32 (20,):

    - 0, 1: shares of the rounds and of the budget that are spent;
    - 2 to 6, 7 to 11, 12 to 16: quantiles .1, .25, .5, .75 and .9 of v, d and o over the units left (0 if none is);
    - 17: treated share of the units randomised so far (0 before the first);
    - 18: their share of all rows, log and randomised;
    - 19: the last value of the metric.

    With ``action="index"`` a ``Dict``: ``summary``, as above; ``ranks``, float32 (n_pool, 3), fractional ranks in
    (0, 1] of v, d and o, 0 for units that were randomised; ``mask``, int8 (n_pool,), 1 for those that were not.

    Action
    ------
    ``Box`` [0, 1] float32 (3,): weights α, β, γ of the score α η(v) + β η(d) + γ η(o), η being the fractional rank; the
    batch is what scores highest. Ties are broken at random, and if all weights are zero the batch is a random one.

    With ``action="index"``: ``MultiDiscrete([n_pool] * batch)``, places in the pool. One that is named before or was
    randomised already is replaced by a random unit that is left, and counted in ``info``. Of the last batch the first
    entries count, as many as the budget has left. n_pool is the pool of the first trial; where pools differ in size
    (households), places beyond the pool are replaced as well, and a larger pool's last units cannot be named.

    Reward
    ------
    By how much the metric on the validation slice became better: PEHE before − PEHE after, in units of the outcome,
    where true effects are known; else the gain in the Qini coefficient (binary outcomes, dimensionless) or in
    cumulative gain (units of the outcome). The test slice enters :meth:`evaluate` alone, and no unit of either slice
    can be randomised.

    Termination
    -----------
    Terminated when the budget is spent; the last batch is what is left of it.

    Info
    ----
    ``metric``: ``"pehe"``, ``"qini"`` or ``"cumulative_gain"``; ``value``: float, on the validation slice; ``spent``,
    ``left``: int, of the budget; ``round``, ``instance_seed``: int; ``data``, ``unit``: str, name of the trial and unit
    of its outcome. After a step also of the batch: ``units``: list of int, places in the pool; ``p``, ``t``, ``y``:
    lists, probability, treatment and outcome of each; ``replaced``: int.

    Arguments
    ---------
    data : str, TrialScenario or Trial
        ``"linear"``, ``"linear_t4"``, ``"misspecified"``, ``"segments"``, ``"ihdp_a"``, ``"ihdp_b"``, ``"acic16"``,
        ``"hillstrom"``, ``"gotv"``, ``"starbucks"`` and, generated, ``"synthetic_hillstrom"`` and so on.
    budget, batch : int
        Units of an episode and of a step.
    learner : str
        The model of the effect: ``"linear"``, ``"linear_pooled"`` or ``"linear_log"`` (compare with these two) or
        another of :data:`~scisuite.solvers.active_rct.learners.registry.LEARNERS`.
    action : {"weights", "index"}
    p_rule, p_bounds : {"fixed", "adaptive"}, (float, float)
        Treat with probability ½, or clip(½ + .3 τ̂, ``p_bounds``). A replayed trial keeps its own probabilities.
    instance_seed : int or None
        The trial of all episodes; by default each has another one.
    render_mode : None or "rgb_array"
        Where the budget went, τ̂ against the truth or the outcomes, and the metric; uint8 (600, 960, 3).
    data_config, learner_config : mapping or None
        Arguments of the scenario and of the learner.

    ``reset`` takes the options ``{"instance_seed": int}``, which trial, for this episode, and
    ``{"data": id or object}``, trials of another kind from this episode on.

    Source
    ------
    Gao et al., budgeted active experimentation for treatment-effect estimation (arXiv 2602.22021). Score and loop are
    Algorithm 1; weights as actions, observation and reward are ours.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 2}  # noqa: RUF012 (as Gymnasium has it)

    def __init__(
        self,
        data: Any = "linear",
        budget: int = 400,
        batch: int = 50,
        learner: str = "linear",
        action: str = "weights",
        p_rule: Rule = "fixed",
        p_bounds: Sequence[float] = (0.2, 0.8),
        instance_seed: int | None = None,
        render_mode: str | None = None,
        data_config: Mapping[str, Any] | None = None,
        learner_config: Mapping[str, Any] | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidInput(f"render_mode must be None or 'rgb_array', not {render_mode!r}")
        self.render_mode = render_mode
        self.task = Task(
            data, data_config, budget, batch, learner, learner_config, action, p_rule, p_bounds, instance_seed
        )
        self.observation_space = self.task.observation_space()
        self.action_space = self.task.action_space()
        self._trial: Trial | None = None
        self._loop: ActiveRCT | None = None
        self._judge = Judge("pehe")
        self._terms: Terms = (np.zeros(0), np.zeros(0), np.zeros(0))
        self._values: list[float] = []
        self._instance_seed = 0
        self._over = True
        self._viewer: Any = None

    @property
    def scenario(self) -> Source:
        """Where the trials come from."""
        return self.task.source

    @property
    def loop(self) -> ActiveRCT:
        """The experiment so far, for agents: log, pool, learner, batches and units left. It holds no outcome that was
        not revealed; looking is free, changing it is not allowed."""
        if self._loop is None:
            raise EpisodeOver("there is no trial yet; call reset()")
        return self._loop

    @property
    def terms(self) -> Terms:
        """Raw v, d and o of the units left, float64 (n_left,) each, in the order of ``loop.left``."""
        return self._terms

    @property
    def next_size(self) -> int:
        """Units of the next batch."""
        return min(self.task.batch, self.task.budget - self.loop.n_spent)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, Info]:
        """Begin an episode.

        Raises
        ------
        InvalidInput
            If the seed is no non-negative integer, an option is unknown or out of its range, the trial's pool is
            smaller than the budget, or the learner cannot learn from its log; nothing has changed then.
        """
        chosen = require_options(options)
        rng = copy.deepcopy(self.np_random) if seed is None else seeding.np_random(as_seed(seed))[0]
        drawn, learner_seed = (int(number) for number in rng.integers(DRAWN_SEEDS, size=2))
        fixed = self.task.instance_seed
        instance_seed = chosen.get("instance_seed", drawn if fixed is None else fixed)
        source = chosen.get("data", self.task.source)
        trial = self.task.trial(instance_seed, source)
        loop, judge = self.task.loop(trial, learner_seed), Judge.of(trial)
        terms = terms_of(loop)
        value = judge.value(loop.learner.effect(trial.validation.x), trial.validation)
        super().reset(seed=seed)
        self.np_random.integers(DRAWN_SEEDS, size=2)
        self.task.source = source
        self._trial, self._loop, self._judge, self._terms = trial, loop, judge, terms
        self._instance_seed, self._values, self._over = instance_seed, [value], False
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:
        """Randomise a batch.

        Raises
        ------
        InvalidInput
            If the action is not in the action space; nothing has changed then.
        EpisodeOver
            Before ``reset`` and after the end of an episode.
        """
        if self._over:
            raise EpisodeOver("the episode is over or has not begun; call reset()")
        units, replaced = self._chosen(action)
        loop, trial = self.loop, self._playing
        p = loop.chances(units)
        t, y = trial.reveal(units, p, self.np_random)
        loop.observe(units, t, y, p)
        self._terms = terms_of(loop)
        self._values.append(self._judge.value(loop.learner.effect(trial.validation.x), trial.validation))
        self._over = loop.n_spent == self.task.budget
        reward = self._judge.progress(*self._values[-2:])
        return self._observation(), reward, self._over, False, self._info(loop.history[-1], replaced)

    def evaluate(self) -> dict[str, float]:
        """The test slice's say on the model as it is, for experiments: no agent may call it.

        Returns
        -------
        dict
            The metric by its name; ``n_used``, units randomised; ``coverage`` and ``width`` of the linear learner's
            95 % intervals where the truth is known and a batch has come, the width infinite where one interval is;
            ``policy_value``, the mean outcome of treating those with τ̂ > 0, where it is not.
        """
        figures = self._judge.report(self.loop.learner, self._playing.test)
        return figures | {"n_used": float(self.loop.n_spent)}

    def render(self) -> Any:
        """The episode so far as uint8 (600, 960, 3), or ``None`` without a render mode."""
        if self.render_mode is None:
            return None
        if self._viewer is None:
            from scisuite.envs.active_rct.render import Viewer

            self._viewer = Viewer()
        return self._viewer.draw(self._playing, self.loop, self._judge, self._values, self.task.budget)

    def close(self) -> None:
        """Forget the figure."""
        self._viewer = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_viewer": None}

    @property
    def _playing(self) -> Trial:
        if self._trial is None:
            raise EpisodeOver("there is no trial yet; call reset()")
        return self._trial

    def _chosen(self, action: Any) -> tuple[Ints, int]:
        """The batch that an action asks for, and how many of its units were replaced."""
        left, size = self.loop.left, self.next_size
        if self.task.action == "index":
            return self._named(self.task.units(action)[:size])
        weights = self.task.weights(action)
        if not weights.any():
            return self.np_random.choice(left, size, replace=False), 0
        return left[choose_top(score_pool(*self._terms, weights.tolist()), size, self.np_random)], 0

    def _named(self, asked: Ints) -> tuple[Ints, int]:
        left = self.loop.left
        first = np.zeros(len(asked), dtype=bool)
        first[np.unique(asked, return_index=True)[1]] = True
        good = first & np.isin(asked, left)
        missing = int((~good).sum())
        units = asked.copy()
        if missing:
            units[~good] = self.np_random.choice(np.setdiff1d(left, asked[good]), missing, replace=False)
        return units, missing

    def _observation(self) -> Observation:
        task, loop = self.task, self.loop
        seen = summary(loop, self._terms, budget=task.budget, rounds=task.rounds, metric=self._values[-1])
        return {**pool_view(loop, self._terms, task.n_pool), "summary": seen} if task.action == "index" else seen

    def _info(self, batch: Round | None = None, replaced: int = 0) -> Info:
        trial, spent = self._playing, self.loop.n_spent
        info: Info = {
            "metric": self._judge.metric,
            "value": self._values[-1],
            "spent": spent,
            "left": self.task.budget - spent,
            "round": len(self.loop.history),
            "instance_seed": self._instance_seed,
            "data": trial.name,
            "unit": trial.unit,
        }
        if batch is not None:
            of_batch = {"units": batch.units, "p": batch.p, "t": batch.t, "y": batch.y}
            info |= {name: column.tolist() for name, column in of_batch.items()} | {"replaced": replaced}
        return info
