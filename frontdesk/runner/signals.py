"""Ctrl-C and a polite kill: who answers them."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Generator

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def handlers_kept() -> Generator[bool]:
    """Who answered signals before does so again afterwards. False on a thread where none can be heard."""
    if threading.current_thread() is not threading.main_thread():
        yield False
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield True
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
