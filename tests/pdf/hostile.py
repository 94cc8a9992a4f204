"""PDFs that take all memory or all time of whoever opens them, and functions that do worse."""

from __future__ import annotations

import os
import time
import zlib
from pathlib import Path

from parsemark.pdf import in_child


def write_pdf(path: Path, objects: list[bytes]) -> Path:
    """A PDF of these objects, the first of which is its catalogue."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    path.write_bytes(bytes(out))
    return path


def _stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries, data)


def _one_page(path: Path, content: bytes, resources: bytes, *more: bytes) -> Path:
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << %s >> >>"
    return write_pdf(
        path,
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            page % resources,
            content,
            *more,
        ],
    )


def form_in_itself(path: Path) -> Path:
    """A form that draws itself, twice at each level."""
    form = _stream(b"/F Do /F Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] "
                   b"/Resources << /XObject << /F 5 0 R >> >>")  # fmt: skip
    return _one_page(path, _stream(b"/F Do"), b"/XObject << /F 5 0 R >>", form)


def flate_bomb(path: Path) -> Path:
    """Content of 100 kB that is gigabytes when it is unpacked twice."""
    squeeze = zlib.compressobj(9)
    head = squeeze.compress(b"") + squeeze.flush(zlib.Z_FULL_FLUSH)
    once = head + (squeeze.compress(bytes(2**24)) + squeeze.flush(zlib.Z_FULL_FLUSH)) * 512
    return _one_page(path, _stream(zlib.compress(once, 9), b"/Filter [/FlateDecode /FlateDecode]"), b"")


@in_child()
def crash(pdf: Path) -> int:
    """End the process as PDFium would."""
    os.abort()


@in_child(cpu_s=1)
def spin(pdf: Path) -> int:
    """Never end."""
    while True:
        pass


@in_child()
def sleep(pdf: Path) -> None:
    """Take long."""
    time.sleep(600)


@in_child()
def hoard(pdf: Path) -> int:
    """Take more memory than there is for PDFs."""
    return len([bytes(2**20) for _ in range(16_000)])


@in_child()
def pid(pdf: Path) -> int:
    """Which process it is."""
    return os.getpid()


@in_child()
def stranger(pdf: Path) -> object:
    """A result that is called when it is read."""

    class Attack:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {pdf}.attacked",)

    return Attack()
