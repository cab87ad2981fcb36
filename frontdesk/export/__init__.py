"""A run as data sets for other tools, each with a data card made from the run itself."""
