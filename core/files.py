"""Files that are either whole or absent: atomic writes, checksums, and the cache of generated data."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scisuite.core.errors import DamagedFile, EngineFailure, InvalidInput


def sha256(data: bytes) -> str:
    """Hexadecimal SHA-256 of ``data``."""
    return hashlib.sha256(data).hexdigest()


def jsonable(value: Any) -> Any:
    """Return ``value`` with NumPy scalars and arrays as Python ones and NaN and infinities as ``None``.

    Raises
    ------
    InvalidInput
        If something in it has no JSON form.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if hasattr(value, "tolist"):
        return jsonable(value.tolist())
    raise InvalidInput(f"{value!r} ({type(value).__name__}) has no JSON form")


def canonical_json(value: Any) -> str:
    """The one-line JSON text of ``value`` with sorted keys: equal values give equal texts."""
    return json.dumps(jsonable(value), sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def write_atomic(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Write ``data`` to ``path`` so that a reader, or a killed process, sees the old file or the whole new one.

    Raises
    ------
    InvalidInput
        If the folder cannot be made or written (it is read-only, or a file is in the way).
    EngineFailure
        If the disk is full or fails. The old file, if any, is left as it was and no partial file stays.
    """
    path = Path(path)
    content = data.encode() if isinstance(data, str) else data
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not tempfile: its files are private to their owner, and a cluster's workers share a folder.
        temporary = path.parent / f".{secrets.token_hex(8)}.part"
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _REFUSALS:
            raise InvalidInput(f"cannot write {path}: {reason}") from error
        raise EngineFailure(f"cannot write {path}: {reason}") from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


_REFUSALS = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.EISDIR,
    errno.ENAMETOOLONG,
    errno.ENOTEMPTY,
}


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write ``value`` atomically as indented JSON (NaN as null) with sorted keys."""
    text = json.dumps(jsonable(value), sort_keys=True, indent=1, allow_nan=False, ensure_ascii=False)
    write_atomic(path, text + "\n")


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file.

    Raises
    ------
    InvalidInput
        If there is no such file, or it cannot be read.
    DamagedFile
        If it is not JSON.
    """
    path = Path(path)
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InvalidInput(f"no such file: {path}") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path} is not valid JSON: {error}") from error


def cache_folder() -> Path:
    """The user's cache folder for scisuite; ``SCISUITE_CACHE`` overrides it."""
    override = os.environ.get("SCISUITE_CACHE")
    if override:
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_cache_dir("scisuite"))


def cached_bytes(name: str, parameters: Mapping[str, Any], make: Callable[[], bytes]) -> bytes:
    """Return ``make()``, or what it returned before for the same name and parameters.

    The file is keyed by a hash of both, written atomically and carries its own SHA-256; one that does not match
    is made again. A cache folder that cannot be read or written costs time, never the result.
    """
    key = sha256(canonical_json({"name": name, "parameters": dict(parameters)}).encode())[:16]
    path = cache_folder() / name / key
    with contextlib.suppress(OSError):
        content = path.read_bytes()
        digest, payload = content[:64], content[65:]
        if digest.decode("ascii", "replace") == sha256(payload):
            return payload
    payload = make()
    with contextlib.suppress(InvalidInput, EngineFailure):
        write_atomic(path, sha256(payload).encode() + b"\n" + payload)
    return payload
