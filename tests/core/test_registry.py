"""Ids from TOML and from other distributions: found, suggested, refused, and never imported before they are made."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisuite.core import InvalidInput, MissingDependency, Registry, UnknownName
from scisuite.core.registry import did_you_mean, read_entries

GROUP = "scisuite.tests.things"


@pytest.fixture
def registry() -> Registry[Any]:
    registry: Registry[Any] = Registry("thing")
    registry.register("std/fraction", "fractions:Fraction", summary="a rational", numerator=1)
    registry.register("std/decimal", "decimal:Decimal", summary="a decimal", paper="labo")
    registry.register("other/decimal", "decimal:Decimal", summary="another")
    return registry


def test_defaults_are_overridden(registry: Registry[Any]) -> None:
    assert str(registry.make("std/fraction", denominator=3)) == "1/3"
    assert str(registry.make("std/fraction", numerator=2, denominator=3)) == "2/3"


def test_short_names_serve_where_they_are_unique(registry: Registry[Any]) -> None:
    assert registry.entry("fraction").id == "std/fraction"
    with pytest.raises(UnknownName, match="thing 'decimal' is ambiguous: other/decimal, std/decimal"):
        registry.entry("decimal")


def test_a_full_id_wins_over_a_short_name(registry: Registry[Any]) -> None:
    registry.register("decimal", "decimal:Decimal", summary="whole id")
    assert registry.entry("decimal").summary == "whole id"


@pytest.mark.parametrize("typo", ["fractoin", "std/fractio", "STD/FRACTION", "Fraction"])
def test_typos_are_answered_with_the_nearest(registry: Registry[Any], typo: str) -> None:
    with pytest.raises(UnknownName, match=f"unknown thing '{typo}'; did you mean 'std/fraction'"):
        registry.entry(typo)


def test_a_far_off_name_lists_what_is_known(registry: Registry[Any]) -> None:
    with pytest.raises(UnknownName, match="known: other/decimal, std/decimal, std/fraction"):
        registry.entry("zzzzzz")
    with pytest.raises(UnknownName, match="none is registered"):
        Registry[Any]("thing").entry("x")


def test_a_family_is_named_before_others(registry: Registry[Any]) -> None:
    with pytest.raises(UnknownName, match="known: std/decimal, std/fraction, other/decimal$"):
        registry.entry("zzzzzz", first="std/")
    for first in ("std/", "other/"):
        with pytest.raises(UnknownName, match=f"did you mean '{first}decimal'"):
            registry.entry("decimall", first=first)


def test_a_list_says_how_much_it_leaves_out() -> None:
    known = [f"{family}/{number:02}" for family in "ab" for number in range(14)]
    assert did_you_mean("zzz", known).endswith(", a/10, a/11 and 16 more")
    everything_of_b = ", ".join(f"b/{number:02}" for number in range(14))
    assert did_you_mean("zzz", known, "b/") == f"; known: {everything_of_b} and 14 more"


@pytest.mark.parametrize("id", [None, 3, ["std/fraction"], b"fraction"])
def test_an_id_is_a_string(registry: Registry[Any], id: Any) -> None:
    with pytest.raises(InvalidInput, match="thing id must be a string"):
        registry.entry(id)


@given(st.text())
def test_any_string_is_found_or_refused_clearly(name: str) -> None:
    registry: Registry[Any] = Registry("thing")
    registry.register("std/fraction", "fractions:Fraction", summary="a rational")
    if name in ("std/fraction", "fraction"):
        assert registry.entry(name).id == "std/fraction"
    else:
        with pytest.raises(UnknownName, match="unknown thing"):
            registry.entry(name)


def test_registering_twice(registry: Registry[Any]) -> None:
    registry.register("std/fraction", "fractions:Fraction", summary="a rational", numerator=1)
    with pytest.raises(InvalidInput, match="'std/fraction' is already registered for fractions:Fraction"):
        registry.register("std/fraction", "decimal:Decimal", summary="a rational")
    assert registry.entry("std/fraction").target == "fractions:Fraction"


@pytest.mark.parametrize("id", ["", " x", "a b"])
def test_malformed_ids(registry: Registry[Any], id: str) -> None:
    with pytest.raises(InvalidInput, match="must be a non-empty word"):
        registry.register(id, "fractions:Fraction", summary="s")


@pytest.mark.parametrize("target", ["fractions", ":Fraction", "fractions:", ""])
def test_malformed_targets(registry: Registry[Any], target: str) -> None:
    with pytest.raises(InvalidInput, match='must read like "module:name"'):
        registry.register("x", target, summary="s")


def test_unknown_and_missing_arguments(registry: Registry[Any]) -> None:
    with pytest.raises(InvalidInput, match="thing 'std/fraction' has no argument 'denominater'; did you mean 'denom"):
        registry.make("fraction", denominater=2)
    registry.register("std/timedelta", "functools:partial", summary="variadic")
    registry.register("std/needs", "fnmatch:fnmatch", summary="two arguments", name="a")
    with pytest.raises(InvalidInput, match="thing 'std/needs' needs pat"):
        registry.make("needs")


def test_the_id_is_given_to_what_is_made(registry: Registry[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    class Named:
        id = ""

    monkeypatch.setattr("fractions.Named", Named, raising=False)
    registry.register("std/named", "fractions:Named", summary="s")
    assert registry.make("named").id == "std/named"


def test_missing_extras_name_the_command(registry: Registry[Any], tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "needs_absent.py").write_text("import surely_absent_package\nclass Thing: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry.register("x/one", "needs_absent:Thing", summary="s", extras=("bo",))
    registry.register("x/two", "needs_absent:Thing", summary="s", extras=("bo", "data"))
    registry.register("x/none", "needs_absent:Thing", summary="s")
    with pytest.raises(MissingDependency, match=r'x/one needs surely_absent_package.*pip install "scisuite\[bo\]"'):
        registry.make("x/one")
    with pytest.raises(MissingDependency, match=r'pip install "scisuite\[bo,data\]"'):
        registry.make("x/two")
    with pytest.raises(ModuleNotFoundError, match="surely_absent_package"):
        registry.make("x/none")


def test_a_target_that_is_not_there(registry: Registry[Any]) -> None:
    registry.register("x/gone", "fractions:NoSuchName", summary="s")
    with pytest.raises(InvalidInput, match="x/gone is registered for fractions:NoSuchName, but .*NoSuchName"):
        registry.make("x/gone")
    registry.register("x/module", "no_such_module_at_all:Name", summary="s", extras=("bo",))
    with pytest.raises(ModuleNotFoundError):
        registry.make("x/module")


def test_folders_are_read_at_the_first_lookup(tmp_path: Path) -> None:
    registry: Registry[Any] = Registry("thing")
    registry.add_folder(tmp_path)
    (tmp_path / "family").mkdir()
    (tmp_path / "family" / "solver.toml").write_text(
        '[paper]\ntitle = "ignored here"\n[[entry]]\nid = "f/a"\ntarget = "fractions:Fraction"\nsummary = "s"\n'
        'extras = ["bo"]\npaper = "labo"\n[entry.defaults]\nnumerator = 3\n'
    )
    (tmp_path / "flat.toml").write_text('[[entry]]\nid = "f/b"\ntarget = "no_such:Thing"\nsummary = "s"\n')
    assert registry.ids() == ("f/a", "f/b")
    entry = registry.entry("f/a")
    assert (entry.paper, entry.extras, dict(entry.defaults)) == ("labo", ("bo",), {"numerator": 3})
    assert registry.make("f/a") == 3


def test_a_broken_file_is_reported_every_time(tmp_path: Path) -> None:
    registry: Registry[Any] = Registry("thing")
    registry.add_folder(tmp_path)
    (tmp_path / "broken.toml").write_text("[[entry]")
    for _ in range(2):
        with pytest.raises(InvalidInput, match=r"broken\.toml"):
            registry.ids()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('target = "a:b"\nsummary = "s"', "entry 1 lacks id"),
        ('id = "x"', "entry 'x' lacks summary, target"),
        ('id = "x"\ntarget = "a:b"\nsummary = "s"\ntau = 1', "unknown fields tau; configuration goes in defaults"),
        ('id = "x"\ntarget = "a:b"\nsummary = "s"\n[entry.defaults]\nid = "y"', "defaults may not be called id"),
    ],
)
def test_malformed_entries_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.toml").write_text(f"[[entry]]\n{text}\n")
    with pytest.raises(InvalidInput, match=message):
        read_entries(tmp_path / "bad.toml")


def distribution(folder: Path, name: str, entry_points: str, modules: dict[str, str]) -> None:
    """Lay down an installed distribution as ``pip`` would."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entry_points}\n")
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)


def test_plugins_of_other_distributions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "class Outer:\n    class Mine:\n        def __init__(self, size=1): self.size = size\n"
    distribution(tmp_path, "their-package", "their/mine = their_module:Outer.Mine [fast]", {"their_module": code})
    monkeypatch.syspath_prepend(tmp_path)
    registry: Registry[Any] = Registry("thing", GROUP)
    entry = registry.entry("mine")
    assert (entry.id, entry.origin, entry.summary) == ("their/mine", "their-package", "added by their-package")
    assert "their_module" not in sys.modules
    assert registry.make("mine", size=4).size == 4


def test_a_bad_plugin_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = "ours = their_module:Mine\nbroken = just_a_module\ngood = their_module:Mine"
    distribution(tmp_path, "their-package", points, {"their_module": "class Mine: ...\n"})
    monkeypatch.syspath_prepend(tmp_path)
    registry: Registry[Any] = Registry("thing", GROUP)
    registry.register("ours", "fractions:Fraction", summary="s")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert registry.ids() == ("good", "ours")
    messages = sorted(str(w.message) for w in caught)
    assert len(messages) == 2
    assert messages[0].startswith("thing 'broken' of their-package was left out: target of 'broken' must read")
    assert messages[1].startswith("thing 'ours' of their-package was left out: thing 'ours' is already registered")
    assert registry.entry("ours").target == "fractions:Fraction"


def test_did_you_mean_prefers_three_at_most() -> None:
    text = did_you_mean("alpha", ["alpha1", "alpha2", "alpha3", "alpha4"])
    assert text.count("alpha") == 3


def test_our_own_registries_answer_and_load() -> None:
    """Everything that a TOML of ours names exists; extras that are not installed are the only excuse."""
    from scisuite import agents, scenarios, solvers
    from scisuite.bench import experiments

    loaded = 0
    for registry in (scenarios.registry, solvers.registry, agents.registry, experiments):
        for id in registry.ids():
            entry = registry.entry(id)
            assert entry.summary
            try:
                assert callable(entry.load()) or registry is experiments
            except MissingDependency as error:
                assert error.extra
            loaded += 1
    assert loaded > 0
