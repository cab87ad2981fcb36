"""From typed configuration to a run's records: plans, stages, and what is computed from them. Never a report."""
