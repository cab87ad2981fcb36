"""The human study: plan, ballots, analysis."""
