"""Reaction networks as SBML: ours written exactly, and other people's mass-action networks read."""

from scisuite.solvers.crn_reduce.sbml.errors import UnsupportedSBML
from scisuite.solvers.crn_reduce.sbml.reader import SBMLNetwork, from_sbml, read_sbml
from scisuite.solvers.crn_reduce.sbml.writer import to_sbml, write_sbml

__all__ = ["SBMLNetwork", "UnsupportedSBML", "from_sbml", "read_sbml", "to_sbml", "write_sbml"]
