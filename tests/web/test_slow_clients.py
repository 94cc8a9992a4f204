"""Clients that never finish what they ask: they are closed, and keep nobody else out."""

import io
import logging
import socket
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import httpx
import pytest
from tests.waiting import PATIENCE_S
from tests.web.serve import served, write_pairs

from parsemark.web import frame
from parsemark.web.frame import MAX_CONNECTIONS, _OncePerMinute


def half_sent(host: str, port: int) -> socket.socket:
    made = socket.create_connection((host, port), timeout=PATIENCE_S)
    made.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
    return made


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_half_sent_requests_keep_nobody_out(tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path)
    with served("study", "rate", str(pairs), "--port", "0") as (links, _):
        link = next(iter(links.values()))
        place = urlsplit(link)
        assert place.hostname is not None and place.port is not None
        slow = [half_sent(place.hostname, place.port) for _ in range(MAX_CONNECTIONS + 40)]
        assert httpx.get(link, timeout=PATIENCE_S, follow_redirects=True).status_code == 200
        assert all(map(is_closed, slow[:40])), "the oldest made room"
        assert all(map(is_closed, slow)), "none may wait for ever"
        for connection in slow:
            connection.close()


def test_a_request_in_parts_is_answered_and_so_is_the_next(tmp_path: Path) -> None:
    with served("study", "rate", str(write_pairs(tmp_path)), "--port", "0") as (links, _):
        place = urlsplit(next(iter(links.values())))
        assert place.hostname is not None and place.port is not None
        with socket.create_connection((place.hostname, place.port), timeout=PATIENCE_S) as made:
            for _ in range(3):
                for part in (b"GET /nowhere HT", b"TP/1.1\r\nHost: local", b"host\r\n\r\n"):
                    made.sendall(part)
                answer = b""
                while not answer.endswith(b"Not Found"):
                    part = made.recv(65536)
                    assert part, answer
                    answer += part
                assert answer.startswith(b"HTTP/1.1 404")


def test_errors_of_the_event_loop_are_written_once_a_minute_and_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Clients that use up all descriptors wrote 99 MB of tracebacks in a minute."""
    now, written = [1000.0], io.StringIO()
    monkeypatch.setattr(frame, "time", SimpleNamespace(monotonic=lambda: now[0]))
    log = logging.Logger("loop")
    log.addHandler(logging.StreamHandler(written))
    log.addFilter(_OncePerMinute())
    for minute in range(3):
        now[0] = 1000.0 + 60 * minute
        for _ in range(500):
            try:
                raise OSError("Too many open files")
            except OSError:
                log.exception("socket.accept() out of system resource")
    assert written.getvalue().splitlines() == ["socket.accept() out of system resource"] * 3
