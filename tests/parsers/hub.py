"""A model hub on this machine, as its client knows it, with faults on request."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """Repositories by name, each with its files; large files have their SHA-256, others git's hash."""

    files: dict[str, dict[str, bytes]]
    large: tuple[str, ...] = (".safetensors", ".pt")
    revisions: set[str] = field(default_factory=lambda: {"main", "no_timm", "v2.3.0", COMMIT})
    status: dict[str, int] = field(
        default_factory=dict
    )  # what requests are refused with, by a part of their path
    error_code: str = ""  # the hub's own word beside a status
    times: int = 1_000_000  # how often
    cut_after: int | None = None  # bytes after which a connection breaks
    wrong: str = ""  # a file that is delivered with other bytes
    token: str = ""  # without which nothing is given
    asked: list[tuple[str, str, str]] = field(default_factory=list)  # method, path, range
    address: str = ""

    def hash_of(self, name: str, data: bytes) -> dict[str, object]:
        """The part of a listing that has a file's hash."""
        if name.endswith(self.large):
            sha256 = hashlib.sha256(data).hexdigest()
            return {"blobId": "0" * 40, "lfs": {"sha256": sha256, "size": len(data), "pointerSize": 120}}
        return {"blobId": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()}


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """Serve it on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, *, body: bool) -> None:
            path = self.path.partition("?")[0]
            hub.asked.append((self.command, path, self.headers.get("Range") or ""))
            for part, status in hub.status.items():
                if part in path and hub.times > 0:
                    hub.times -= 1
                    return self.say(status, b"{}", {"X-Error-Code": hub.error_code} if hub.error_code else {})
            if hub.token and self.headers.get("Authorization") != f"Bearer {hub.token}":
                return self.say(401, b"{}", {"X-Error-Code": "GatedRepo"})
            for name, files in hub.files.items():
                if path.startswith(f"/api/models/{name}/revision/"):
                    return self.listing(name, files, path.rpartition("/")[2])
                if path.startswith(f"/{name}/resolve/"):
                    revision, _, file = path.removeprefix(f"/{name}/resolve/").partition("/")
                    if revision in hub.revisions and file in files:
                        return self.file(file, files[file], body=body)
            return self.say(404, b"{}", {"X-Error-Code": "RepoNotFound"})

        def listing(self, name: str, files: dict[str, bytes], revision: str) -> None:
            if revision not in hub.revisions:
                return self.say(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            siblings = [
                {"rfilename": file, "size": len(data), **hub.hash_of(file, data)}
                for file, data in files.items()
            ]
            return self.say(200, json.dumps({"id": name, "sha": COMMIT, "siblings": siblings}).encode())

        def file(self, name: str, data: bytes, *, body: bool) -> None:
            if name == hub.wrong:
                data = data[::-1]
            given = self.headers.get("Range")
            start = int(given.removeprefix("bytes=").partition("-")[0]) if given else 0
            headers = {"ETag": '"abc"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
            if given:
                headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            rest = data[start:]
            self.say(206 if given else 200, rest if body else b"", headers, len(rest))

        def say(
            self, status: int, data: bytes, headers: dict[str, str] | None = None, length: int | None = None
        ) -> None:
            self.send_response(status)
            for key, value in (headers or {}).items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(data) if length is None else length))
            self.end_headers()
            if self.command == "HEAD":
                return
            if hub.cut_after is not None and len(data) > hub.cut_after:
                self.wfile.write(data[: hub.cut_after])
                self.wfile.flush()
                self.connection.close()
                self.close_connection = True
                return
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
