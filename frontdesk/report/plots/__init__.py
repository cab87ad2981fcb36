"""The pictures of reports: what they show is given as figures with names, what they look like is decided here."""
