"""Clients that never finish what they ask: they are closed, and keep nobody else out."""

import socket
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from tests.waiting import PATIENCE_S
from tests.web.serve import served, write_pairs

from parsemark.web.frame import MAX_CONNECTIONS


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
