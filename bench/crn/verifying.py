"""``verify``: whether a certificate leads from one network to the other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scisuite.bench.crn.files import require_file
from scisuite.bench.crn.keep import kept_variables
from scisuite.bench.crn.models import Model, read_model
from scisuite.bench.crn.options import read_list
from scisuite.bench.crn.stages import Stages
from scisuite.core import InvalidInput

if TYPE_CHECKING:
    from scisuite.scenarios.factor_graphs import FactorGraph


def verify(
    before: Path, certificate: Path, after: Path, *, units: str, keep: Sequence[str] | None = None
) -> dict[str, Any]:
    """Recover both factor graphs, replay the certificate's moves on the first and compare with the second.

    Names of values are compared as well, where the second says any. ``keep`` lists variables that the certificate must
    keep, called as in :func:`~scisuite.bench.crn.keep.kept_variables`.

    Raises
    ------
    CertificateError
        If the certificate does not hold; the message names the move.
    InvalidInput
        If a file cannot be read, a model is no Napp–Adams network, or a variable in ``keep`` is unknown.
    """
    from scisuite.solvers.crn_reduce.reduction import CertificateError, certificate_from_json
    from scisuite.solvers.crn_reduce.reduction.verify import check

    for path in (before, certificate, after):
        require_file(path)
    with Stages(f"verify {certificate}", total=5) as stages:
        try:
            proof = certificate_from_json(_text(certificate))
        except InvalidInput as error:
            raise type(error)(f"{certificate}: {error}") from error
        full = read_model(before, units, stages, "before")
        small = read_model(after, units, stages, "after")
        wanted = kept_variables(full, read_list(keep))
        # Without an annotation values go by the ids of species, which are others in another file.
        left = small.graph if small.annotated else _without_names(small.graph)
        with stages("verify"):
            try:
                check(full.graph, proof, left, keep=wanted, with_log_scale=False)
            except CertificateError as error:
                raise CertificateError(f"{certificate} does not lead from {before} to {after}: {error}") from error
    return {
        "before": str(before),
        "certificate": str(certificate),
        "after": str(after),
        "holds": True,
        "keep": proof.keep,
        "moves": dict(Counter(move.kind for move in proof)),
        "reactions_before": full.crn.n_reactions,
        "reactions_after": small.crn.n_reactions,
        "seconds": stages.rounded(),
        "warnings": _other_rates(full, small),
    }


def _without_names(graph: FactorGraph) -> FactorGraph:
    from scisuite.scenarios.factor_graphs import FactorGraph

    return FactorGraph.trusted(graph.card, graph.factors, graph.log_scale, {})


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidInput("this is no certificate: it is not UTF-8 text") from None
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror or error}") from error


def _other_rates(before: Model, after: Model) -> list[str]:
    """Rates do not move fixed points, but a simulation's pace, and whether messages survive."""
    rates, others = vars(before.recovery.rates), vars(after.recovery.rates)
    return [
        f"{name} is {rate:.6g} in {before.path} and {others[name]:.6g} in {after.path}"
        for name, rate in rates.items()
        if not math.isclose(rate, others[name], rel_tol=1e-12)
    ]
