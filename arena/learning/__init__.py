"""What tutors' branches leave behind in simulated students: labels, outcomes, controls, differences, verdicts."""
