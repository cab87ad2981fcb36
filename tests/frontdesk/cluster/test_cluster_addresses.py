"""What ``--on`` names and is no cluster is told in one sentence, before anything is asked."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from frontdesk.cli import main
from frontdesk.runner.cluster import crew
from tests.support.small_runs import write_config


@contextlib.contextmanager
def listening(answer: bytes) -> Iterator[str]:
    """An address where something takes connections, and is no scheduler."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held: list[socket.socket] = []

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    held.append(server.accept()[0])
                    held[-1].sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(10)
            for one in held:
                one.close()


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"])
def test_something_that_listens_and_is_no_scheduler(provider, tmp_path, monkeypatch, capsys, answer):
    monkeypatch.setattr(crew, "ANSWER_S", 2.0)
    config = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2)
    with listening(answer) as address:
        assert main(["run", str(config), "--run", str(tmp_path / "run"), "--on", address]) == 2
    err = capsys.readouterr().err
    assert f"--on {address}: no scheduler answers there" in err
    assert len(err.strip().splitlines()) == 1, err
    assert provider.stats.calls == 0
