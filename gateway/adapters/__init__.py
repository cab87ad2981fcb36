"""One file a kind of endpoint. Adapters translate and classify; they never loop, sleep or retry."""
