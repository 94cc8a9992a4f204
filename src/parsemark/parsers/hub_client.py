# /// script
# requires-python = ">=3.11"
# dependencies = ["huggingface_hub==2.4.0"]
# ///
"""Fetches weights with `huggingface_hub`, in an environment of its own: see `parsemark.parsers.weights`.

The request is the last argument, in JSON; a token comes in `HF_TOKEN` alone. Each event is a line of JSON:
`{"files": {path: bytes}, "commit": …}`, `{"done": bytes}`, `{"error": …}`, `{"end": true}`. An unfinished
file is `NAME.part`, and the next request goes on with it.
"""

import errno
import hashlib
import json
import sys
import time
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlsplit

_CHUNK = 1 << 20
_EVERY_S = 0.2
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main() -> None:
    """Fetch what the request names; every failure is one line."""
    request = json.loads(sys.argv[1])
    try:
        (_fetch_repository if request["kind"] == "hf" else _fetch_address)(request)
    except Exception as error:  # the border of the process: whatever fails becomes one line
        send(error=_in_words(error, request))
        return
    send(end=True)


def send(**event: object) -> None:
    """Write one event."""
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


class Bar:
    """What `http_get` takes for a progress bar: counts the bytes of all files."""

    done = 0
    _last = 0.0

    def __init__(self, *_: object, initial: int = 0, **__: object) -> None:
        Bar.done += initial

    def update(self, n: float | None = 1) -> None:
        """Count bytes; negative if they are fetched once more."""
        Bar.done += int(n or 0)
        if (now := time.monotonic()) - Bar._last > _EVERY_S:
            Bar._last = now
            send(done=Bar.done)

    def close(self) -> None:
        """Do nothing: it is not drawn."""

    def __enter__(self) -> "Bar":
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        """Do nothing."""


def _fetch_repository(request: Mapping[str, Any]) -> None:
    from huggingface_hub import HfApi, get_hf_file_metadata, hf_hub_url
    from huggingface_hub.utils import build_hf_headers

    repository, target = request["repository"], Path(request["target"])
    found = HfApi().model_info(repository, revision=request["revision"], files_metadata=True)
    files = {
        item.rfilename: item
        for item in found.siblings or ()
        if not request["files"] or any(fnmatch(item.rfilename, pattern) for pattern in request["files"])
    }
    for pattern in request["files"]:
        if not any(fnmatch(name, pattern) for name in files):
            raise LookupError(f"has no file {pattern} at {request['revision']}")
    if bad := next((name for name in files if not _is_inside(name)), None):
        raise LookupError(f"has a file with a name that is not allowed: {bad[:80]!r}")
    send(commit=found.sha, files={name: item.size or 0 for name, item in files.items()})
    for name, item in files.items():
        sha256 = item.lfs.sha256 if item.lfs else None
        hashes = {"sha256": sha256} if sha256 else {"git": item.blob_id} if item.blob_id else {}
        path = target / name
        if path.is_file() and path.stat().st_size == item.size and not _wrong(path, hashes):
            Bar.done += item.size
            continue
        url = hf_hub_url(repository, name, revision=found.sha)
        about = get_hf_file_metadata(url, retry_on_errors=True)
        headers = build_hf_headers()
        if urlsplit(about.location).netloc != urlsplit(url).netloc:
            headers.pop("authorization", None)  # only the hub gets the token
        _fetch_file(about.location, path, headers, item.size, hashes)


def _fetch_address(request: Mapping[str, Any]) -> None:
    path = Path(request["target"]) / request["name"]
    if not path.is_file():
        _fetch_file(request["url"], path, {}, None, {})
    if request["listing"]:
        _fetch_listed(path, request["url"].partition("?")[0].rpartition("/")[0])


def _fetch_listed(listing: Path, address: str) -> None:
    """Fetch the files that a JSON list names, from the folder that it lies in."""
    try:
        names = json.loads(listing.read_bytes())["files"]
        if not names or any(not isinstance(name, str) or not _is_inside(name) for name in names):
            raise ValueError
    except (KeyError, TypeError, ValueError) as error:
        listing.unlink()
        raise LookupError("has no list of files") from error
    send(files=dict.fromkeys([listing.name, *names], 0))
    for name in names:
        if not (path := listing.parent / name).is_file():
            _fetch_file(f"{address}/{quote(name)}", path, {}, None, {})


def _fetch_file(
    url: str, path: Path, headers: dict[str, Any], size: int | None, hashes: Mapping[str, str]
) -> None:
    from huggingface_hub import constants
    from huggingface_hub.file_download import http_get

    constants.DOWNLOAD_CHUNK_SIZE = _CHUNK  # what a broken connection costs
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    start = part.stat().st_size if part.is_file() else 0
    if size is not None and start > size:
        part.unlink()
        start = 0
    with part.open("ab") as file:
        http_get(
            url,
            file,
            resume_size=start,
            headers=headers,
            expected_size=size,
            tqdm_class=Bar,
        )
    if start == size:
        Bar.done += start
    if wrong := _wrong(part, hashes):
        part.unlink()
        raise LookupError(f"{path.name} arrived with {wrong}; it was discarded")
    part.rename(path)
    send(done=Bar.done)


def _wrong(path: Path, hashes: Mapping[str, str]) -> str:
    """Return how a file differs from its hash as the hub has it; empty if it does not."""
    for kind, expected in hashes.items():
        digest = hashlib.sha256() if kind == "sha256" else hashlib.sha1(usedforsecurity=False)
        if kind == "git":
            digest.update(b"blob %d\0" % path.stat().st_size)
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        if digest.hexdigest() != expected:
            return f"the hash {digest.hexdigest()[:16]}… instead of {expected[:16]}…"
    return ""


def _is_inside(name: str) -> bool:
    parts = name.split("/")
    return not any(part in ("", ".", "..") or part.startswith("-") for part in parts) and "\\" not in name


def _in_words(error: Exception, request: Mapping[str, Any]) -> str:
    """Return the error and its remedy, in one line."""
    import os

    from huggingface_hub import errors

    page = f"{os.environ.get('HF_ENDPOINT', 'https://huggingface.co')}/{request.get('repository', '')}"
    where = urlsplit(request.get("url") or page).netloc
    code = getattr(getattr(error, "response", None), "status_code", None)
    words = {
        errors.GatedRepoError: f"is gated: ask for access at {page}, then set HF_TOKEN",
        errors.RevisionNotFoundError: f"has no revision {request.get('revision')}; name another one",
        errors.RepositoryNotFoundError: "does not exist or is private; if you have access, set HF_TOKEN",
        errors.EntryNotFoundError: "lost a file while it was being fetched; run the command again",
    }
    by_code = {
        401: f"is refused by {where} (401): set HF_TOKEN to a valid token",
        429: f"is refused by {where} for now (429, too many requests): run the command again later",
    }
    said = next((text for kind, text in words.items() if isinstance(error, kind)), None)
    if said is None and code is not None:
        said = by_code.get(code, f"cannot be fetched: {where} answers {code}")
    if said is None and isinstance(error, LookupError):
        said = str(error)
    if said is None and isinstance(error, OSError) and error.errno in _FULL:
        said = "does not fit on the disk; make room and run the command again: what has arrived is kept"
    if said is not None:
        return said
    what = " ".join(str(error).split())[:200]
    return (
        f"cannot be fetched ({type(error).__name__}: {what}); run the command again to go on where it "
        "stopped. Behind a mirror set HF_ENDPOINT; files from elsewhere: --weights-from DIR"
    )


if __name__ == "__main__":
    main()
