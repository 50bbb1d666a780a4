"""What can be wrong with a reaction network that should be one of Napp and Adams's."""

from scisuite.core import InvalidInput


class NotNappAdams(InvalidInput):
    """The network is not a compiled factor graph; the message names the species or reaction that shows it."""
