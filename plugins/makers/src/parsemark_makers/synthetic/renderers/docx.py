"""Sets documents as Word documents with LibreOffice.

LibreOffice does not say where it puts things, but colours do: a second copy of each document has every
paragraph and cell shaded in a colour of its own, which moves nothing, and its PDF has these rectangles.
"""

import contextlib
import errno
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from parsemark.errors import MakingError
from parsemark.pdf import count_pages, painted_rectangles
from parsemark.system import ScratchFolder, write_bytes
from parsemark.system.processes import run_program, tool_environment, tool_rights
from parsemark_makers.synthetic.document import DocumentDraft
from parsemark_makers.synthetic.renderers.fonts import require_glyphs
from parsemark_makers.synthetic.truth import Place, Rendered

TIMEOUT_S = 900.0
LIMITS = {"cpu_s": 900, "memory_mb": 4096, "file_mb": 1024}
MARKED = "marked-"


def render(drafts: list[DocumentDraft], folder: Path) -> list[Rendered]:
    """Set documents, each as a PDF in `folder`; LibreOffice is started once."""
    from parsemark_makers.synthetic.renderers.docx_writer import DocxWriter

    keys: dict[str, dict[int, str]] = {}
    with ScratchFolder("parsemark-") as work:
        for draft in drafts:
            if draft.words.right_to_left:
                raise MakingError(f"DOCX in {draft.language} cannot be made; use Typst or HTML.")
            require_glyphs(draft)
            write_bytes(folder / f"{draft.name}.docx", DocxWriter(draft, shaded=False).bytes())
            writer = DocxWriter(draft, shaded=True)
            write_bytes(folder / f"{MARKED}{draft.name}.docx", writer.bytes())
            keys[draft.name] = writer.keys
        names = [f"{mark}{draft.name}" for draft in drafts for mark in ("", MARKED)]
        convert(folder, names, work)
    return [
        Rendered(
            draft,
            folder / f"{draft.name}.pdf",
            tuple(_places(folder / f"{MARKED}{draft.name}.pdf", keys[draft.name])),
            source=(folder / f"{draft.name}.docx").read_bytes(),
            source_suffix=".docx",
        )
        for draft in drafts
    ]


def convert(folder: Path, names: list[str], profile: Path, *, of: str = "docx", to: str = "pdf") -> None:
    """Set each `NAME.docx` of a folder as a PDF beside it, with LibreOffice's settings in a folder `profile`.

    A filter and its options may follow in `to`, as LibreOffice takes them.
    """
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if office is None:
        raise MakingError("LibreOffice is missing; install it: apt-get install libreoffice-writer-nogui")
    command = [
        office,
        f"-env:UserInstallation={profile.as_uri()}",
        *("--headless", "--norestore", "--nolockcheck", "--convert-to", to, "--outdir", str(folder)),
        *(str(folder / f"{name}.{of}") for name in names),
    ]
    made = {name: folder / f"{name}.{to.partition(':')[0]}" for name in names}
    for path in made.values():
        path.unlink(missing_ok=True)
    rights = tool_rights([str(Path(office).resolve().parents[1])], [str(folder), str(profile)], **LIMITS)
    rights = replace(rights, sockets=("/tmp",))  # it asks there whether it runs already, whatever TMPDIR is
    env = tool_environment(profile)
    missing = names
    for _ in range(2):  # with a new profile it starts itself anew, and stumbles over its own socket
        try:
            done = run_program(command, rights, cwd=folder, env=env, timeout_s=TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            raise MakingError(f"LibreOffice took longer than {TIMEOUT_S:.0f} s.") from error
        finally:
            _remove_dead_sockets()
        missing = [name for name, path in made.items() if not path.is_file()]
        if not missing:
            return
    said = (done.stdout + done.stderr).decode(errors="replace")
    raise MakingError(f"LibreOffice did not convert {missing[0]}.{of}: {said.strip()[-300:]}")


def _remove_dead_sockets() -> None:
    """Remove the sockets that LibreOffice leaves in `/tmp`, where it may remove nothing."""
    for path in Path("/tmp").glob("OSL_PIPE_*"):
        with socket.socket(socket.AF_UNIX) as asked, contextlib.suppress(OSError):
            if asked.connect_ex(str(path)) == errno.ECONNREFUSED:
                path.unlink()


def _places(marked: Path, keys: dict[int, str]) -> Iterator[Place]:
    for page in range(1, count_pages(marked) + 1):
        for colour, box in painted_rectangles(marked, page):
            if colour in keys:
                yield Place(keys[colour], page, box)
