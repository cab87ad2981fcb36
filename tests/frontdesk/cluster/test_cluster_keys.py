"""Keys go to workers over an encrypted way, or not at all."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.machines import Machines, machines
from tests.support.small_runs import REPOSITORY, start, write_config

SECRET = "sk-of-the-driver-alone-0123456789"
TINY = {"dialogues": 2, "subsets": 2, "concurrency": 4, "endpoint": {"api_key_env": "OWN_KEY_OF_THE_TEST"}}


def certificates(folder: Path) -> dict[str, str]:
    """An authority and what it vouches for, as Dask is told of them."""

    folder.mkdir()

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl(*new, "-x509", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=authority")
    openssl(*new, "-keyout", "own.key", "-out", "own.csr", "-subj", "/CN=machine")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-out", "own.pem")
    openssl("x509", "-req", "-in", "own.csr", *signed)
    begin = "DASK_DISTRIBUTED__COMM__TLS__"
    roles = {
        f"{begin}{role}__{part}": str(folder / f"own.{suffix}")
        for role in ("SCHEDULER", "WORKER", "CLIENT")
        for part, suffix in (("CERT", "pem"), ("KEY", "key"))
    }
    return {f"{begin}CA_FILE": str(folder / "ca.pem"), **roles}


def own_address() -> str | None:
    """This machine's address in a network, where it has one: nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
        try:
            found.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return found.getsockname()[0]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl, which makes the certificates, is not here")
def test_over_tls_workers_without_keys_are_sent_the_drivers_and_who_has_no_certificate_is_told(provider, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, **TINY)
    ours = certificates(tmp_path / "ours")

    def driven(**environ: str) -> tuple[int, str]:
        process = start(*command, OWN_KEY_OF_THE_TEST=SECRET, **environ)
        _, err = process.communicate(timeout=120)
        return process.returncode, err.decode()

    with machines(tmp_path, 1, **ours) as own:
        command = ("simulate", config, "--run", tmp_path / "run", "--on", own.address)
        code, err = driven()
        assert (code, "distributed.comm.tls" in err, "Traceback" in err) == (2, True, False), err
        assert provider.stats.calls == 0
        code, err = driven(**ours)
        assert code == 0, err
        assert provider.stats.calls == 2 * 7
    kept = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in path.read_bytes() for path in kept)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """One worker that was given nothing, reached over plain TCP."""
    with machines(tmp_path_factory.mktemp("plain"), 1, host="0.0.0.0") as own:
        yield own


@pytest.mark.skipif(own_address() is None, reason="this machine has no address but loopback")
def test_over_plain_tcp_a_run_is_refused_where_a_worker_lacks_a_key(provider, plain, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, **TINY)
    far = plain.address.replace("127.0.0.1", own_address() or "")
    process = start("simulate", config, "--run", tmp_path / "run", "--on", far, OWN_KEY_OF_THE_TEST=SECRET)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "has no OWN_KEY_OF_THE_TEST in its environment" in err.decode()
    assert provider.stats.calls == 0


def test_a_worker_with_another_version_is_told_of_before_anything_is_asked(provider, plain, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2, concurrency=4)
    older = tmp_path / "older" / "tutor_arena-0.0.7.dist-info" / "METADATA"
    older.parent.mkdir(parents=True)
    older.write_text("Metadata-Version: 2.1\nName: tutor-arena\nVersion: 0.0.7\n")
    plain.start(PYTHONPATH=f"{tmp_path / 'older'}:{REPOSITORY}")
    process = start("simulate", config, "--run", tmp_path / "run", "--on", plain.address)
    _, err = process.communicate(timeout=120)
    plain.kill(-1)
    said = err.decode()
    assert (process.returncode, "Traceback" in said) == (2, False), said
    assert f"has tutor-arena 0.0.7; install {version('tutor-arena')} there" in said
    assert provider.stats.calls == 0
