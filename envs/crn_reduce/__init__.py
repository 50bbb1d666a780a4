"""``sci/CRNReduce-v0``: shrink a factor graph, and with it the reaction network it compiles to, move by move."""
