"""The measured tables, column by column, and what happens where their packages are missing or changed."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import numpy as np
import pytest

from scisuite import scenarios
from scisuite.core import DataUnavailable, InvalidInput, MissingDependency
from scisuite.scenarios.materials import TABLES, MaterialsScenario
from scisuite.scenarios.materials import scenario as reader

INSTALLED = {distribution.name for distribution in metadata.distributions()}
needs_data = pytest.mark.skipif(not {"olymp", "bocode"} <= INSTALLED, reason="needs scisuite[data]")

FACTS = {
    # name: (points, columns, maximise, best, median)
    "fullerenes": (216, 3, True, 0.953133, 0.855998),
    "photo_pce10": (1020, 4, False, 0.00162264, 0.149747),
    "photo_wf3": (1020, 4, False, 0.00444696, 0.161746),
    "suzuki": (247, 4, True, 96.9, 34.4),
    "snar": (66, 4, False, 0.24, 0.555),
    "alkox": (104, 4, True, 106.481, 7.72622),
    "benzylation": (72, 4, False, 2.2, 5.55),
    "hplc": (1007, 6, True, 2372.25, 150.42),
    "colors_bob": (161, 5, False, 0.0348974, 0.197849),
    "colors_n9": (102, 3, False, 0.0740274, 0.275087),
    "p3ht": (178, 5, True, 838.31, 194.047),
    "agnp": (164, 5, False, 0.148361, 0.497322),
    "crossed_barrel": (600, 4, True, 46.7114, 15.6544),
    "perovskite": (94, 3, False, 27122, 262389),
    "autoam": (100, 4, True, 0.936549, 0.622119),
    "hoip": (480, 29, False, -16.7919, -9.40073),
}


def test_every_table_is_registered_and_has_its_facts_here():
    assert {f"materials/{name}" for name in TABLES} == {
        i for i in scenarios.registry.ids() if i.startswith("materials/")
    }
    assert set(FACTS) == set(TABLES)
    for name, table in TABLES.items():
        assert scenarios.registry.entry(f"materials/{name}").extras == ("data",)
        assert f"{table.points} measured points" in scenarios.registry.entry(f"materials/{name}").summary


@needs_data
@pytest.mark.parametrize("name", FACTS)
def test_points_direction_best_and_median(name):
    points, columns, maximise, best, median = FACTS[name]
    made = scenarios.make(f"materials/{name}")
    assert made.pool.shape == (points, columns)
    assert made.maximise is maximise
    assert made.optimum == pytest.approx(best, rel=1e-5)
    assert made.median == pytest.approx(median, rel=1e-5)


@needs_data
@pytest.mark.parametrize("name", FACTS)
def test_the_declared_range_and_bounds_are_not_read_off_the_data(name):
    made = MaterialsScenario(name)
    low, high = made.value_range
    assert low < made.pool_values.min() or low == 0
    assert high > made.pool_values.max()


@needs_data
def test_first_rows_in_the_units_of_the_file():
    point = scenarios.make("fullerenes")
    assert point.space.decode(point.pool[:1])[0] == pytest.approx(
        {"reaction_time": 3.0, "sultine_equivalents": 4.2, "temperature": 130.0}
    )
    blend = scenarios.make("p3ht")
    first = blend.space.decode(blend.pool[:1])[0]
    assert first["P3HT"] == pytest.approx(0.45)
    assert first["short_single_wall_CNT"] == pytest.approx(0.55)
    assert blend.pool_values[0] == pytest.approx((12.77 + 16.94) / 2)
    barrel = scenarios.make("crossed_barrel")
    assert barrel.space.decode(barrel.pool[:1])[0] == pytest.approx(
        {"columns": 6, "twist": 0.0, "outer_radius": 1.5, "thickness": 0.7}
    )


@needs_data
@pytest.mark.parametrize("name", ["photo_pce10", "photo_wf3", "p3ht", "perovskite"])
def test_mixtures_sum_to_one(name):
    made = MaterialsScenario(name)
    assert made.space.simplex
    np.testing.assert_allclose(made.pool.sum(axis=1), 1, atol=1e-12)


@needs_data
def test_the_second_material_is_the_one_in_which_the_two_photo_sets_differ():
    one, other = MaterialsScenario("photo_pce10"), MaterialsScenario("photo_wf3")
    assert np.allclose(one.pool, other.pool)
    assert (one.space.names[1], other.space.names[1]) == ("PCE10", "WF3")
    same = np.isclose(one.pool_values, other.pool_values)
    without = [one.pool[:, j] == 0 for j in range(4)]
    assert same[without[1]].all()
    assert not same[without[0] & ~without[1]].any()


@needs_data
def test_hoip_is_categorical_throughout():
    made = MaterialsScenario("hoip")
    assert [d.width for d in made.space.dimensions] == [10, 3, 16]
    assert set(np.unique(made.pool)) == {0.0, 1.0}


@needs_data
def test_every_scenario_has_arrays_of_its_own_and_none_can_be_changed():
    one, two = MaterialsScenario("snar"), MaterialsScenario("snar", seed=7)
    assert one.pool is not two.pool
    assert np.array_equal(one.pool, two.pool)
    assert not one.pool.flags.writeable
    assert not one.pool_values.flags.writeable


@needs_data
def test_the_packages_are_read_without_being_imported():
    code = (
        "import sys; from scisuite import scenarios; scenarios.make('photo_pce10'); scenarios.make('p3ht');"
        "print([m for m in ('olympus', 'bocode', 'torch', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@needs_data
def test_what_a_model_is_told_is_declared_not_measured():
    told = scenarios.make("suzuki").context()
    assert told["range"] == [0.0, 100.0]
    assert told["unit"] == "%"
    assert told["maximise"] is True
    assert "Suzuki" in told["task"]
    assert "optimum" not in told
    assert "median" not in told


@pytest.mark.parametrize("name", ["photo_pce10", "p3ht"])
def test_licences_are_not_made_up(name):
    assert TABLES[name].licence.startswith("unstated")


def test_unknown_table():
    with pytest.raises(InvalidInput, match="unknown table 'fullerene'; did you mean 'fullerenes'"):
        MaterialsScenario("fullerene")


@pytest.fixture
def fresh():
    reader._read.cache_clear()
    yield
    reader._read.cache_clear()


def test_missing_package(fresh, monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(reader.metadata, "distribution", absent)
    with pytest.raises(DataUnavailable) as caught:
        scenarios.make("fullerenes")
    assert str(caught.value) == (
        "materials/fullerenes is read from the package olymp, which is not installed; "
        'install it with: pip install "scisuite[data]"'
    )
    assert isinstance(caught.value, MissingDependency)
    assert caught.value.extra == "data"


class Distribution:
    """A stand-in for an installed distribution with one file."""

    version = "9.9"

    def __init__(self, path):
        self.path = path

    def locate_file(self, file):
        return self.path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read olympus/datasets/dataset_snar/data.csv of olymp 9.9"),
        ("1,2,3,4,5\n", r"is not the file that was checked \(1 rows, not 66 rows of 5 columns\)"),
        ("1,2,3,4,x\n" * 66, "is damaged: could not convert string to float"),
        ("1,2,0.3,100\n" * 66, "is not the file that was checked"),
        ("1,9,0.3,100,5\n" * 66, r"is damaged: x\[0\]"),
        ("1,2,0.3,100,5\n" * 66, "holds 1 distinct points, not 66"),
    ],
)
def test_another_file_than_the_one_that_was_checked(fresh, monkeypatch, tmp_path, content, message):
    path = tmp_path / "data.csv"
    if content is not None:
        path.write_text(content)
    monkeypatch.setattr(reader.metadata, "distribution", lambda name: Distribution(path))
    with pytest.raises(DataUnavailable, match=message):
        MaterialsScenario("snar")


def test_another_header_is_refused(fresh, monkeypatch, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("CsPbI,MAPbI,FAPbI,Instability index\n" + "0,0,1,5\n" * 139)
    monkeypatch.setattr(reader.metadata, "distribution", lambda name: Distribution(path))
    with pytest.raises(DataUnavailable, match="is not the file that was checked"):
        MaterialsScenario("perovskite")
