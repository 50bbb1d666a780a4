"""What each table holds: columns, units, direction, declared range, and where it comes from.

``value_range`` is what one would declare before measuring: 0 to 100 for a yield in per cent, else a round range for
that kind of quantity (*reconstruction*: the sources declare none). Two sets are not what their package says of them:

- ``alkox``: the names and bounds in its configuration belong to another reaction. The columns here are those of the
  project's later documentation. Its conversions reach 106, so no unit is claimed.
- ``photo_pce10`` and ``photo_wf3``: the description calls the first material PCE10 (or WF3) and the second P3HT. All 65
  blends without the second have the same values in both sets; of the 65 without the first only the 10 that lack both
  do. So the second material is the one that differs, and the two names are exchanged here.
"""

from __future__ import annotations

from dataclasses import dataclass

from scisuite.core import Categorical, Continuous, Integer, Space

OLYMP_LICENCE = "unstated (the package olymp calls itself MIT in its description, its licence field is empty)"
BOCODE_LICENCE = "unstated (the package bocode is MIT; the data are those of the PV-Lab benchmarking suite)"

_OLYMPUS = "F. Häse et al., Olympus: a benchmarking framework, arXiv:2010.04153 (2020)."
_LANGNER = "S. Langner et al., Beyond ternary OPV, Advanced Materials (2020) 1907801."
_SCHWEIDTMANN = "A. M. Schweidtmann et al., Chemical Engineering Journal 352 (2018) 277."
_ROCH = "L. M. Roch et al., ChemOS, chemRxiv 5953606 (2018)."


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """What is known of one csv file.

    ``rows`` and ``points`` count its data rows, and what is left once replicates are averaged. ``header`` is its first
    line (empty where there is none). The first columns are the dimensions of ``space``, in order; the last is the
    value.
    """

    distribution: str
    file: str
    rows: int
    points: int
    space: Space
    value_name: str
    unit: str = ""
    maximise: bool
    value_range: tuple[float, float]
    summary: str
    reference: str
    header: tuple[str, ...] = ()

    @property
    def licence(self) -> str:
        return OLYMP_LICENCE if self.distribution == "olymp" else BOCODE_LICENCE


def _olymp(name: str) -> tuple[str, str]:
    return "olymp", f"olympus/datasets/dataset_{name}/data.csv"


def _bocode(name: str) -> tuple[str, str]:
    return "bocode", f"bocode/opt_problems/materials/data/{name}_dataset.csv"


def _mixture(*names: str) -> Space:
    return Space(tuple(Continuous(name, 0, 1) for name in names), simplex=True)


def _levels(letter: str, count: int) -> Categorical:
    return Categorical(f"site_{letter}", tuple(f"{letter}{i}" for i in range(count)))


def _table(where: tuple[str, str], **facts: object) -> Measurements:
    return Measurements(distribution=where[0], file=where[1], **facts)  # type: ignore[arg-type]


TABLES: dict[str, Measurements] = {
    "fullerenes": _table(
        _olymp("fullerenes"),
        rows=246,
        points=216,
        space=Space.from_bounds(
            reaction_time=(3.0, 31.0, "min"), sultine_equivalents=(1.5, 6.0), temperature=(100.0, 150.0, "degC")
        ),
        value_name="product_mole_fraction",
        maximise=True,
        value_range=(0.0, 1.0),
        summary="Maximise the mole fraction of o-xylenyl adducts of buckminsterfullerene made in a flow reactor.",
        reference="B. E. Walker et al., Reaction Chemistry & Engineering 2 (2017) 785.",
    ),
    "photo_pce10": _table(
        _olymp("photo_pce10"),
        rows=1040,
        points=1020,
        space=_mixture("P3HT", "PCE10", "PCBM", "oIDTBR"),
        value_name="degradation",
        maximise=False,
        value_range=(0.0, 1.0),
        summary="Minimise the degradation under light of a polymer blend for organic solar cells.",
        reference=_LANGNER,
    ),
    "photo_wf3": _table(
        _olymp("photo_wf3"),
        rows=1040,
        points=1020,
        space=_mixture("P3HT", "WF3", "PCBM", "oIDTBR"),
        value_name="degradation",
        maximise=False,
        value_range=(0.0, 1.0),
        summary="Minimise the degradation under light of a polymer blend for organic solar cells.",
        reference=_LANGNER,
    ),
    "suzuki": _table(
        _olymp("suzuki"),
        rows=247,
        points=247,
        space=Space.from_bounds(
            temperature=(75.0, 90.0, "degC"),
            palladium_loading=(0.5, 5.0, "mol%"),
            boronate_equivalents=(1.0, 1.8),
            phosphate_equivalents=(1.5, 3.0),
        ),
        value_name="yield",
        unit="%",
        maximise=True,
        value_range=(0.0, 100.0),
        summary="Maximise the yield of a palladium-catalysed Suzuki coupling of 2-bromophenyltetrazole and a boronate.",
        reference=_OLYMPUS,
    ),
    "snar": _table(
        _olymp("snar"),
        rows=66,
        points=66,
        space=Space.from_bounds(
            residence_time=(0.5, 2.0, "min"),
            morpholine_equivalents=(1.0, 5.0),
            concentration=(0.1, 0.5, "mol/L"),
            temperature=(60.0, 140.0, "degC"),
        ),
        value_name="e_factor",
        maximise=False,
        value_range=(0.0, 3.0),
        summary="Minimise the mass of waste per mass of product of a nucleophilic aromatic substitution in flow.",
        reference=_SCHWEIDTMANN,
    ),
    "alkox": _table(
        _olymp("alkox"),
        rows=208,
        points=104,
        space=Space.from_bounds(
            catalase=(0.05, 1.0, "umol/L"),
            peroxidase=(0.5, 10.0, "umol/L"),
            alcohol_oxidase=(2.0, 8.0, "nmol/L"),
            pH=(6.0, 8.0),
        ),
        value_name="conversion",
        maximise=True,
        value_range=(0.0, 120.0),
        summary="Maximise the conversion of benzyl alcohol by a copper radical oxidase with two helper enzymes.",
        reference=_OLYMPUS,
    ),
    "benzylation": _table(
        _olymp("benzylation"),
        rows=73,
        points=72,
        space=Space.from_bounds(
            flow_rate=(0.2, 0.4, "mL/min"),
            benzyl_bromide_equivalents=(1.0, 5.0),
            solvent_equivalents=(0.5, 1.0),
            temperature=(110.0, 150.0, "degC"),
        ),
        value_name="impurity_yield",
        unit="%",
        maximise=False,
        value_range=(0.0, 20.0),
        summary="Minimise the yield of the impurity in an N-benzylation run in a flow reactor.",
        reference=_SCHWEIDTMANN,
    ),
    "hplc": _table(
        _olymp("hplc"),
        rows=1386,
        points=1007,
        space=Space.from_bounds(
            sample_loop=(0.0, 0.08, "mL"),
            additional_volume=(0.0, 0.06, "mL"),
            tubing_volume=(0.1, 0.9, "mL"),
            sample_flow=(0.5, 2.5, "mL/min"),
            push_speed=(80.0, 150.0, "Hz"),
            wait_time=(0.5, 10.0, "s"),
        ),
        value_name="peak_area",
        unit="a.u.",
        maximise=True,
        value_range=(0.0, 3000.0),
        summary="Maximise the peak response of an automated liquid chromatograph over the settings of its sampling.",
        reference=_ROCH,
    ),
    "colors_bob": _table(
        _olymp("colors_bob"),
        rows=241,
        points=161,
        space=Space.from_bounds(
            red=(0.0, 1.0), orange=(0.0, 1.0), yellow=(0.0, 1.0), blue=(0.0, 1.0), green=(0.0, 1.0)
        ),
        value_name="difference_to_green",
        maximise=False,
        value_range=(0.0, 1.0),
        summary="Minimise the distance of a mixture of five dyes from a target green; inputs are amounts.",
        reference=_ROCH,
    ),
    "colors_n9": _table(
        _olymp("colors_n9"),
        rows=102,
        points=102,
        space=Space.from_bounds(red=(0.0, 1.0), green=(0.0, 1.0), blue=(0.0, 1.0)),
        value_name="difference_to_green",
        maximise=False,
        value_range=(0.0, 1.0),
        summary="Minimise the distance of a mixture of three dyes from a target green; inputs are amounts.",
        reference=_OLYMPUS,
    ),
    "p3ht": _table(
        _bocode("P3HT"),
        header=(
            "P3HT content (%)",
            "D1 content (%)",
            "D2 content (%)",
            "D6 content (%)",
            "D8 content (%)",
            "Conductivity (measured) (S/cm)",
        ),
        rows=233,
        points=178,
        space=_mixture("P3HT", "long_single_wall_CNT", "short_single_wall_CNT", "multi_wall_CNT", "double_wall_CNT"),
        value_name="conductivity",
        unit="S/cm",
        maximise=True,
        value_range=(0.0, 2000.0),
        summary="Maximise the electrical conductivity of a composite film of the polymer P3HT and carbon nanotubes.",
        reference="D. Bash et al., Advanced Functional Materials 31 (2021) 2102606.",
    ),
    "agnp": _table(
        _bocode("AgNP"),
        header=("QAgNO3(%)", "Qpva(%)", "Qtsc(%)", "Qseed(%)", "Qtot(uL/min)", "loss"),
        rows=3295,
        points=164,
        space=Space.from_bounds(
            silver_nitrate=(0.0, 50.0, "%"),
            polyvinyl_alcohol=(0.0, 50.0, "%"),
            trisodium_citrate=(0.0, 50.0, "%"),
            seeds=(0.0, 20.0, "%"),
            total_flow=(200.0, 1000.0, "uL/min"),
        ),
        value_name="loss",
        maximise=False,
        value_range=(0.0, 1.0),
        summary="Minimise the distance of the absorbance of silver nanoparticles made in flow from a target spectrum.",
        reference="F. Mekki-Berrada et al., npj Computational Materials 7 (2021) 55.",
    ),
    "crossed_barrel": _table(
        _bocode("Crossed barrel"),
        header=("n", "theta", "r", "t", "toughness"),
        rows=1800,
        points=600,
        space=Space(
            (
                Integer("columns", 6, 12),
                Continuous("twist", 0.0, 200.0, "deg"),
                Continuous("outer_radius", 1.5, 2.5, "mm"),
                Continuous("thickness", 0.7, 1.4, "mm"),
            )
        ),
        value_name="toughness",
        unit="J",
        maximise=True,
        value_range=(0.0, 60.0),
        summary="Maximise the toughness under compression of a printed barrel of twisted hollow columns.",
        reference="A. E. Gongora et al., Science Advances 6 (2020) eaaz1708.",
    ),
    "perovskite": _table(
        _bocode("Perovskite"),
        header=("CsPbI", "FAPbI", "MAPbI", "Instability index"),
        rows=139,
        points=94,
        space=_mixture("CsPbI3", "FAPbI3", "MAPbI3"),
        value_name="instability_index",
        maximise=False,
        value_range=(0.0, 2_000_000.0),
        summary="Minimise the colour change in heat and light of a mixed lead iodide perovskite film.",
        reference="S. Sun et al., Matter 4 (2021) 1305.",
    ),
    "autoam": _table(
        _bocode("AutoAM"),
        header=("Prime Delay", "Print Speed", "X Offset Correction", "Y Offset Correction", "Score"),
        rows=100,
        points=100,
        space=Space.from_bounds(
            prime_delay=(0.0, 5.0, "s"),
            print_speed=(0.1, 10.0, "mm/s"),
            x_offset=(-1.0, 1.0, "mm"),
            y_offset=(-1.0, 1.0, "mm"),
        ),
        value_name="shape_score",
        maximise=True,
        value_range=(0.0, 1.0),
        summary="Maximise the likeness of the leading segment of a printed line to its target.",
        reference="J. R. Deneault et al., MRS Bulletin 46 (2021) 566.",
    ),
    "hoip": _table(
        _bocode("HOIP"),
        header=("site_A", "site_B", "site_X", "source", "binding_energy"),
        rows=480,
        points=480,
        space=Space((_levels("A", 10), _levels("B", 3), _levels("X", 16))),
        value_name="binding_energy",
        unit="eV",
        maximise=False,
        value_range=(-20.0, 5.0),
        summary=(
            "Minimise the calculated binding energy of a hybrid organic-inorganic perovskite over its three sites; "
            "the package numbers the species without naming them."
        ),
        reference="C. Kim et al., Scientific Data 4 (2017) 170057; numbering of the GP+ library (2024).",
    ),
}
