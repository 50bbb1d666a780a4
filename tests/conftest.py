"""What every test runs under: one thread, an own cache folder, no network, and settled hypothesis profiles."""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

# These are read when numpy, torch and transformers are first imported, so they are set before any test module is.
for variable in THREADS:
    os.environ.setdefault(variable, "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")


def pytest_configure(config: pytest.Config) -> None:
    from hypothesis import HealthCheck, settings

    too_slow = [HealthCheck.too_slow]
    settings.register_profile("dev", deadline=None, max_examples=30, suppress_health_check=too_slow)
    settings.register_profile("ci", deadline=None, max_examples=30, derandomize=True, suppress_health_check=too_slow)
    settings.load_profile("ci" if os.environ.get("CI") else "dev")

    # Workers of pytest-xdist inherit the controller's folder, so that what is slow to make is made once a session.
    # One that is set already (by CI, or by a developer who runs a slow test again and again) is kept.
    if not os.environ.get("SCISUITE_CACHE"):
        folder = tempfile.mkdtemp(prefix="scisuite-tests-")
        os.environ["SCISUITE_CACHE"] = folder
        config.add_cleanup(lambda: _forget(folder))


def _forget(folder: str) -> None:
    os.environ.pop("SCISUITE_CACHE", None)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    """Refuse every connection that would leave this machine."""
    real_connect, real_connect_ex, real_sendto = socket.socket.connect, socket.socket.connect_ex, socket.socket.sendto

    def connect(self: socket.socket, address: Any) -> None:
        _refuse_remote(self, address)
        real_connect(self, address)

    def connect_ex(self: socket.socket, address: Any) -> int:
        _refuse_remote(self, address)
        return real_connect_ex(self, address)

    def sendto(self: socket.socket, data: Any, *rest: Any) -> int:
        _refuse_remote(self, rest[-1], sends=True)
        return real_sendto(self, data, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        patch.setattr(socket.socket, "connect_ex", connect_ex)
        patch.setattr(socket.socket, "sendto", sendto)
        yield


def _refuse_remote(connection: socket.socket, address: Any, *, sends: bool = False) -> None:
    if connection.family not in (socket.AF_INET, socket.AF_INET6):
        return
    # Connecting a datagram socket sends nothing: Ray learns its own address that way.
    if connection.type == socket.SOCK_DGRAM and not sends:
        return
    host = str(address[0])
    if host in ("", "localhost", socket.gethostname()):
        return
    try:
        local = ipaddress.ip_address(host.partition("%")[0]).is_loopback or host in _own_addresses()
    except ValueError:
        local = False
    if not local:
        raise RuntimeError(f"a test tried to reach {host}:{address[1]}; tests run without a network")


def _own_addresses() -> set[str]:
    try:
        return {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    except OSError:
        return set()
