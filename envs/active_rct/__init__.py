"""``sci/ActiveRCT-v0``: spend the budget of a randomised trial batch by batch."""
