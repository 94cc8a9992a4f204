"""A run as the result files of OmniDocBench's own program, to be put where those were."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from parsemark.errors import StoreError
from parsemark.protocols import get_protocol
from parsemark.protocols.document.protocol import DocumentProtocol
from parsemark.store import Run
from parsemark.system.files import make_folder, write_text

_UNSAFE = re.compile(r"[^\w.()\-+]+")


def export_omnidocbench(
    run: Run, out: Path, *, progress: Callable[[str], None] = lambda _: None
) -> list[Path]:
    """Write the result files of every published profile that the run was scored by; StoreError if there is
    none.

    With one profile they lie in `out`; with several, each has a folder of its name. Files of a parser begin
    with its name and the matcher's.
    """
    protocols = [p for p in map(get_protocol, run.protocols) if isinstance(p, DocumentProtocol)]
    published = [p for p in protocols if p.profile != "strict"]
    if not published:
        raise StoreError(
            f"{run.path} was not scored by a published profile. Do that with: "
            f"parsemark score {run.path} --protocol 'document(profile=v1.6)'"
        )
    written: list[Path] = []
    for protocol in published:
        folder = out if len(published) == 1 else make_folder(out, _folder_name(protocol, published))
        for parser in sorted({r.parser for r in run.records()}):
            progress(f"{parser}, {protocol.profile}")
            written += _write(run, protocol, parser, folder)
    return written


def _folder_name(protocol: DocumentProtocol, among: list[DocumentProtocol]) -> str:
    """Return the profile; with the options that tell it from others of the same profile."""
    name: str = protocol.profile
    others = [p for p in among if p.profile == protocol.profile and p is not protocol]
    if any(p.cdm != protocol.cdm for p in others) and protocol.cdm:
        name += "-cdm"
    if any(p.match != protocol.match for p in others):
        name += f"-{protocol.match}"
    return _UNSAFE.sub("_", name)


def _write(run: Run, protocol: DocumentProtocol, parser: str, folder: Path) -> list[Path]:
    from parsemark.protocols.document.omnidocbench.profile import get_profile
    from parsemark.protocols.document.omnidocbench.scores import result_files

    known = ((run.truth(sample), sample) for sample in run.table("samples")["sample"])
    pages = [(truth, run.prediction(sample, parser)) for truth, sample in known if truth is not None]
    files = result_files(pages, get_profile(protocol.profile), match=protocol.match, cdm=protocol.cdm)
    prefix = f"{_UNSAFE.sub('_', parser)}_{protocol.match}"
    paths = []
    make_folder(folder)
    for name, content in files.items():
        path = folder / f"{prefix}_{name}.json"
        write_text(path, json.dumps(content, indent=4, ensure_ascii=False) + "\n")
        paths.append(path)
    return paths
