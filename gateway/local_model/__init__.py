"""The embedded model: fetched once, checked, run in this process by llama.cpp, asked in a few-shot form."""
