"""Networks, and encoders of modes."""

import numpy as np
import pytest

from scisuite.core import InvalidInput, generator
from scisuite.core.seeding import global_random_state_untouched

torch = pytest.importorskip("torch")

from scisuite.solvers.laplacian_nav.encoders import ModeEncoder, Network, features_of, one_thread  # noqa: E402

SHAPES = [(2, 13, 19), (1, 1, 1), (5, 30, 40), (3,)]


def an_encoder(shape=(2, 5, 7), k=3, dtype="float32"):
    weights = generator(0, "weights").standard_normal((33, k))
    return ModeEncoder(Network(shape, 32, 0), weights, dtype)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_network_reads_any_shape(shape):
    observations = generator(0, "observations").random((4, *shape)).astype(np.float32)
    features = features_of(Network(shape, 8, 1), observations)
    assert features.shape == (4, 8)
    assert np.isfinite(features).all()
    assert len(np.unique(features, axis=0)) == 4


def test_the_layers_are_the_brief_s():
    shapes = [tuple(weight.shape) for name, weight in Network((2, 13, 19)).named_parameters() if "weight" in name]
    assert shapes == [(16, 2, 3, 3), (32, 16, 3, 3), (256, 32 * 4 * 5), (32, 256)]


@pytest.mark.parametrize(("dtype", "unit"), [("float32", 1.0), ("uint8", 255.0)])
def test_channels_are_standardised(dtype, unit):
    observations = generator(0, "observations").integers(200, size=(50, 3, 4, 5)).astype(dtype)
    observations[:, 2] = 7
    network = Network((3, 4, 5), 8, 0)
    network.standardise(observations)
    seen = (observations / unit - network.centre.numpy()) / network.spread.numpy()
    assert np.allclose(seen.mean(axis=(0, 2, 3)), 0.0, atol=1e-5)
    assert np.allclose(seen.std(axis=(0, 2, 3)), [1.0, 1.0, 0.0], atol=1e-5)


def test_weights_come_from_the_seed_and_the_global_state_stays():
    with global_random_state_untouched():
        one, same, other = (Network((2, 5, 7), 4, seed).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not any(torch.equal(one[name], other[name]) for name in one if name.startswith("layers"))


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("shape", [(2, 5, 7), (4,)])
def test_arrays_give_the_same_encoder_back(shape, dtype):
    encoder = an_encoder(shape, dtype=dtype)
    observations = generator(1, "observations").integers(255, size=(6, *shape)).astype(dtype)
    arrays = encoder.to_arrays()
    again = ModeEncoder.from_arrays({**arrays, "something else": np.zeros(1)})
    assert np.array_equal(encoder(observations), again(observations))
    assert (again.k, again.shape, again.dtype) == (3, shape, dtype)
    assert encoder(observations).dtype == np.float64

    safetensors = pytest.importorskip("safetensors.numpy")
    read = safetensors.load(safetensors.save(arrays))
    assert np.array_equal(ModeEncoder.from_arrays(read)(observations), encoder(observations))


def test_what_an_encoder_refuses_to_read():
    encoder = an_encoder()
    expected = r"^this encoder reads float32 observations of shape \(b, 2, 5, 7\), not "
    with pytest.raises(InvalidInput, match=expected + r"float32 \(3, 2, 7, 5\)$"):
        encoder(np.zeros((3, 2, 7, 5), dtype=np.float32))
    with pytest.raises(InvalidInput, match=expected + r"float64 \(3, 2, 5, 7\)$"):
        encoder(np.zeros((3, 2, 5, 7)))
    with pytest.raises(InvalidInput, match=expected + r"float32 \(2, 5, 7\)$"):
        encoder(np.zeros((2, 5, 7), dtype=np.float32))
    with pytest.raises(InvalidInput, match=r"^observations must be finite, but some hold NaN or infinity$"):
        encoder(np.full((1, 2, 5, 7), np.nan, dtype=np.float32))
    assert encoder(np.zeros((0, 2, 5, 7), dtype=np.float32)).shape == (0, 3)


def test_damaged_arrays():
    arrays = an_encoder().to_arrays()
    with pytest.raises(InvalidInput, match=r"^the arrays of an encoder lack weights, observation_shape$"):
        ModeEncoder.from_arrays({"observation_is_bytes": arrays["observation_is_bytes"]})
    with pytest.raises(InvalidInput, match=r"^the arrays of an encoder do not fit its network: "):
        ModeEncoder.from_arrays({**arrays, "observation_shape": np.array([2, 50, 70])})
    with pytest.raises(InvalidInput, match=r"^weights of an encoder must have two dimensions, not 1$"):
        ModeEncoder.from_arrays({**arrays, "weights": np.zeros(3)})


def test_one_thread_and_then_as_before():
    before = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError), one_thread():
        assert torch.get_num_threads() == 1
        raise ZeroDivisionError
    assert torch.get_num_threads() == before
