"""Policies in ``sci/CRNReduce-v0``: rules, searches, learnt ones and language models."""
