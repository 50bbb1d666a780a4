"""Networks that read observations, and the modes that Rayleigh–Ritz makes of their features."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.utils import skip_init

from scisuite.core import InvalidInput, generator

FEATURES = 32
"""Width of the last layer."""

_ROWS_AT_ONCE = 1024


class Network(nn.Module):
    """Features of observations: a small CNN for pictures, an MLP for vectors.

    Pictures: convolutions of 16 and 32 channels, 3×3, stride 2, then linear layers of 256 and ``features``. Vectors:
    three hidden layers of 256. ReLU between the layers. Each channel or number is first brought to zero mean and unit
    variance (:meth:`standardise`): that the navigator fills one cell of hundreds is then no reason to learn slowly.

    Parameters
    ----------
    shape : tuple of int
        Of one observation: (channels, height, width) or (numbers,).
    features : int
    seed : int
        Of the initial weights, PyTorch's usual uniform ones. The global random state is neither read nor moved.

    Notes
    -----
    Source: brief, "CNN: conv 16, conv 32 (3×3, stride 2), linear 256, linear 32" and ALLO's "MLP 256×3"; the
    standardisation is a reconstruction, which saves three steps of four.
    """

    centre: torch.Tensor
    spread: torch.Tensor

    def __init__(self, shape: tuple[int, ...], features: int = FEATURES, seed: int = 0) -> None:
        super().__init__()
        self.shape = tuple(int(side) for side in shape)
        self.features = int(features)
        if len(self.shape) == 3:
            channels, height, width = self.shape
            flat = 32 * math.ceil(height / 4) * math.ceil(width / 4)
            self.layers = nn.Sequential(
                skip_init(nn.Conv2d, channels, 16, 3, stride=2, padding=1),
                nn.ReLU(),
                skip_init(nn.Conv2d, 16, 32, 3, stride=2, padding=1),
                nn.ReLU(),
                nn.Flatten(),
                skip_init(nn.Linear, flat, 256),
                nn.ReLU(),
                skip_init(nn.Linear, 256, self.features),
            )
        else:
            sizes = (math.prod(self.shape), 256, 256, 256)
            hidden: list[nn.Module] = []
            for before, after in pairwise(sizes):
                hidden += [skip_init(nn.Linear, before, after), nn.ReLU()]
            self.layers = nn.Sequential(*hidden, skip_init(nn.Linear, 256, self.features))
        self._per_channel = (self.shape[0], *(1 for _ in self.shape[1:]))
        self.register_buffer("centre", torch.zeros(self._per_channel))
        self.register_buffer("spread", torch.ones(self._per_channel))
        self._draw_weights(seed)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """float32 (b, features) of float32 observations (b, …)."""
        features: torch.Tensor = self.layers((observations - self.centre) / self.spread)
        return features

    def standardise(self, observations: NDArray[Any]) -> None:
        """Take the mean and standard deviation of each channel over ``observations`` (b, …); of constant ones, 1."""
        over = tuple(axis for axis in range(observations.ndim) if axis != 1)
        unit = 255.0 if observations.dtype == np.uint8 else 1.0
        centre = observations.mean(axis=over, dtype=np.float64) / unit
        spread = observations.std(axis=over, dtype=np.float64) / unit
        spread[spread <= 1e-6 * np.maximum(np.abs(centre), 1.0)] = 1.0
        self.centre.copy_(torch.from_numpy(centre).reshape(self._per_channel))
        self.spread.copy_(torch.from_numpy(spread).reshape(self._per_channel))

    def _draw_weights(self, seed: int) -> None:
        draws = torch.Generator().manual_seed(int(generator(seed, "weights").integers(2**62)))
        with torch.no_grad():
            for layer in self.layers:
                if isinstance(layer, nn.Conv2d | nn.Linear):
                    bound = 1.0 / math.sqrt(layer.weight[0].numel())
                    layer.weight.uniform_(-bound, bound, generator=draws)
                    assert layer.bias is not None
                    layer.bias.uniform_(-bound, bound, generator=draws)


class ModeEncoder:
    """Laplacian modes as a function of observations: ``encoder(obs)`` → float64 (b, k), slowest first.

    Over the pairs that it was learnt from, modes have unit variance and are uncorrelated; the constant one is left out.

    Parameters
    ----------
    network : Network
    weights : float64 (1 + features, k)
        Of the constant and the features in each mode, from Rayleigh–Ritz.
    dtype : {"float32", "uint8"}
        Of the observations that are read. Bytes are divided by 255.
    losses : sequence of float
        One a training step, in its order; not among :meth:`to_arrays`.
    """

    def __init__(
        self, network: Network, weights: NDArray[np.float64], dtype: str, losses: Sequence[float] = ()
    ) -> None:
        self.network = network.eval()
        self.losses = tuple(losses)
        self.weights = np.asarray(weights, dtype=np.float64)
        self.dtype = dtype

    @property
    def k(self) -> int:
        """Number of modes."""
        return int(self.weights.shape[1])

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one observation."""
        return self.network.shape

    def __call__(self, obs: NDArray[Any]) -> NDArray[np.float64]:
        """float64 (b, k): the modes' values at observations (b, …).

        Raises
        ------
        InvalidInput
            If they are not of the shape and dtype that were learnt from, or not finite.
        """
        given = np.asarray(obs)
        if given.shape[1:] != self.shape or given.ndim != len(self.shape) + 1 or str(given.dtype) != self.dtype:
            wanted = f"(b, {', '.join(map(str, self.shape))})"
            raise InvalidInput(
                f"this encoder reads {self.dtype} observations of shape {wanted}, not {given.dtype} {given.shape}"
            )
        if given.dtype.kind == "f" and not np.isfinite(given).all():
            raise InvalidInput("observations must be finite, but some hold NaN or infinity")
        features = features_of(self.network, given)
        return np.asarray(self.weights[0] + features @ self.weights[1:], dtype=np.float64)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`from_arrays` needs, as named arrays that safetensors can hold."""
        arrays = {f"network.{name}": value.numpy().copy() for name, value in self.network.state_dict().items()}
        return {
            **arrays,
            "weights": self.weights.copy(),
            "observation_shape": np.array(self.shape, dtype=np.int64),
            "observation_is_bytes": np.array([self.dtype == "uint8"]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> ModeEncoder:
        """The encoder whose :meth:`to_arrays` gave ``arrays``; further arrays are ignored.

        Raises
        ------
        InvalidInput
            If one is missing or of another shape.
        """
        missing = [name for name in ("weights", "observation_shape", "observation_is_bytes") if name not in arrays]
        if missing:
            raise InvalidInput(f"the arrays of an encoder lack {', '.join(missing)}")
        weights = np.asarray(arrays["weights"], dtype=np.float64)
        if weights.ndim != 2:
            raise InvalidInput(f"weights of an encoder must have two dimensions, not {weights.ndim}")
        network = Network(tuple(int(side) for side in arrays["observation_shape"]), len(weights) - 1)
        state = {
            name.removeprefix("network."): torch.from_numpy(np.array(value))
            for name, value in arrays.items()
            if name.startswith("network.")
        }
        try:
            network.load_state_dict(state)
        except RuntimeError as error:
            raise InvalidInput(f"the arrays of an encoder do not fit its network: {error}") from error
        return cls(network, weights, "uint8" if bool(np.all(arrays["observation_is_bytes"])) else "float32")


def as_tensor(observations: NDArray[Any]) -> torch.Tensor:
    """float32 tensor of float32 observations, or of bytes divided by 255."""
    tensor = torch.from_numpy(np.ascontiguousarray(observations))
    return tensor.float() / 255.0 if tensor.dtype == torch.uint8 else tensor


def features_of(network: Network, observations: NDArray[Any]) -> NDArray[np.float64]:
    """float64 (b, features), on one thread and a thousand rows at a time."""
    features = np.empty((len(observations), network.features))
    with one_thread(), torch.no_grad():
        for start in range(0, len(observations), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            features[part] = network(as_tensor(observations[part])).numpy()
    return features


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch on one thread inside, as before after: the same sums in the same order on any machine's core count."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
