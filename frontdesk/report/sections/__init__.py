"""What each product shows: its results as blocks, in the order of a reader's questions."""
