"""Policies in ``sci/ActiveRCT-v0``: Algorithm 1's score and its parts, designs, and a negative control."""
