"""Agreement between raters, paired tests and effect sizes: pure functions over arrays."""
