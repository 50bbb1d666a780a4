"""The package's names: all there, looked up lazily, and functions even where a file has the same name."""

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


def test_a_file_of_the_same_name_does_not_hide_the_function():
    code = (
        "import scisuite.solvers.laplacian_nav.grid_score, scisuite.solvers.laplacian_nav as nav\n"
        "from scisuite.solvers.laplacian_nav import autocorrelogram, grid_score\n"
        "from scisuite.solvers.laplacian_nav.grid_score import grid_score as same\n"
        "assert grid_score is same is nav.grid_score\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


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
