"""What a reduction refuses."""

from scisuite.core import InvalidInput


class NotExactError(InvalidInput):
    """The move would change belief propagation's fixed points on the variables that stay, or remove one to be kept."""


class BeyondFloat64(NotExactError):
    """The move is exact, but products of the tables' entries would leave the range of float64."""


class CertificateError(InvalidInput):
    """A certificate does not prove what it says; the message names the move or the graph that shows it."""
