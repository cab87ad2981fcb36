"""Pages of the human study, served on loopback unless told otherwise."""
