"""Decides between runs, versions and boards: comparisons, the gate, leaderboards, history, errors by type.

The verdict on a pair of parsers of one run, which a leaderboard needs too, is in `protocols.run_scores`; the
test under it is `stats.paired_test`.
"""
