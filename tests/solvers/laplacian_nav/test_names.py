"""The package's names: all there, looked up lazily."""

from __future__ import annotations

import subprocess
import sys

import pytest

import scisuite.solvers.laplacian_nav as package
from scisuite.core import MissingDependency


def test_every_name_is_there():
    for name in package.__all__:
        try:
            assert callable(getattr(package, name)), name
        except MissingDependency as error:
            assert error.extra == "torch"
    with pytest.raises(AttributeError, match=r"has no attribute 'green_function'$"):
        package.green_function  # noqa: B018


def test_nothing_heavy_is_imported_with_the_package():
    code = "import sys, scisuite.solvers.laplacian_nav; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"scipy.sparse", "networkx", "torch", "pyamg", "matplotlib", "gymnasium"} & set(loaded)


def test_without_torch_the_extra_is_named():
    code = "import sys; sys.modules['torch'] = None; from scisuite.solvers.laplacian_nav import learn_modes"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.stderr.splitlines()[-1] == (
        "scisuite.core.errors.MissingDependency: learn_modes needs torch, which is not installed; "
        'install it with: pip install "scisuite[torch]"'
    )
