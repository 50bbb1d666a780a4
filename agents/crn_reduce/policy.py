"""A policy for sb3-contrib's MaskablePPO that judges every action by the same network. Importing this imports torch."""

from __future__ import annotations

import math
from typing import Any

import torch
from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from scisuite.agents.crn_reduce.site_features import N_FEATURES, site_features


class SiteFeatures(BaseFeaturesExtractor):
    """:func:`~scisuite.agents.crn_reduce.site_features.site_features` as one vector.

    Parameters
    ----------
    observation_space : gymnasium.spaces.Dict
    max_table : int or None
        The cap on tables.
    """

    def __init__(self, observation_space: Any, max_table: int | None = None) -> None:
        n_actions = 4 * observation_space["cardinalities"].shape[0] + 1
        super().__init__(observation_space, n_actions * N_FEATURES)
        self.max_table = math.inf if max_table is None else float(max_table)

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        return site_features(observations, self.max_table).features.flatten(1)


class SiteNetwork(nn.Module):
    """Scores of all actions and a summary of the board for the critic.

    An action's score depends on its own features and on the mean and the greatest of what the network makes of all
    legal ones, so that it does not matter at which site a move stands.
    """

    def __init__(self, n_actions: int, width: int) -> None:
        super().__init__()
        self.n_actions = n_actions
        self.latent_dim_pi, self.latent_dim_vf = n_actions, width
        self.each = nn.Sequential(nn.Linear(N_FEATURES, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.score = nn.Sequential(nn.Linear(3 * width, width), nn.ReLU(), nn.Linear(width, 1))
        self.summary = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU())
        with torch.no_grad():
            self.score[-1].weight.mul_(0.1)  # type: ignore[operator]

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        rows, board = self._read(features)
        return self._scores(rows, board), self.summary(board)

    def forward_actor(self, features: Tensor) -> Tensor:
        return self._scores(*self._read(features))

    def forward_critic(self, features: Tensor) -> Tensor:
        found: Tensor = self.summary(self._read(features)[1])
        return found

    def _read(self, features: Tensor) -> tuple[Tensor, Tensor]:
        given = features.view(len(features), self.n_actions, N_FEATURES)
        legal = given[..., 5:6]
        rows = self.each(given) * legal
        board = torch.cat([rows.sum(1) / legal.sum(1), rows.amax(1)], dim=1)
        return rows, board

    def _scores(self, rows: Tensor, board: Tensor) -> Tensor:
        scores: Tensor = self.score(torch.cat([rows, board[:, None].expand(-1, self.n_actions, -1)], dim=2))
        return scores.squeeze(2)


class SitePolicy(MaskableMultiInputActorCriticPolicy):
    """Actor and critic on :class:`SiteNetwork`; ``net_arch`` is its width."""

    def __init__(self, *arguments: Any, max_table: int | None = None, width: int = 64, **keywords: Any) -> None:
        self._width, self._max_table = width, max_table
        keywords |= {
            "features_extractor_class": SiteFeatures,
            "features_extractor_kwargs": {"max_table": max_table},
            "ortho_init": False,
        }
        super().__init__(*arguments, **keywords)

    def _build_mlp_extractor(self) -> None:
        network: Any = SiteNetwork(self.features_dim // N_FEATURES, self._width)
        self.mlp_extractor = network.to(self.device)

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.action_net = nn.Identity()
        optimizer: Any = self.optimizer_class
        self.optimizer = optimizer(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | {"max_table": self._max_table, "width": self._width}
