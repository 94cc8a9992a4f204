"""A document that is being built, and what is put in the place of what is missing or broken in it.

Of what is missing it also says which Debian package has it.
"""

import gzip
import hashlib
import io
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath

from parsemark.system import pdflatex
from parsemark.system.pdflatex import CompileLimits

LIMITS = CompileLimits(cpu_s=180, wall_s=900, memory_mb=4096, output_mb=128)
TOOL_LIMITS = CompileLimits(cpu_s=60, wall_s=300, memory_mb=2048)
LAUNCHER = "parsemark-launcher"
_STATES = re.compile(r"\.(aux|toc|lof|lot|out|bbl|ind|gls|acr|nls|nav|snm|loa)")
_MISSING_SIGN = re.compile(r"^Missing character: There is no (\S) ", re.MULTILINE)
_COLUMNS = re.compile(r"^parsemark-columns:(\d)", re.MULTILINE)

MINTED = Path(__file__).with_name("minted-stand-in.tex")
STAND_INS = {f"aastex{version}.cls": "aastex631" for version in ("", "6", "61", "62", "63", "7", "701")}
"""Classes that no package has, and the version at hand that stands in for them."""
PICTURES = {".pdf": "PDF", ".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
PICTURE_PAGES = 40  # of a PDF that stands in for a broken one
_UNDATED = {"creationDate": time.gmtime(0), "modDate": time.gmtime(0)}  # so that it is the same each time
BITMAP_DPI = 600  # of pdfTeX's bitmap fonts

_WANTS_MINTED = re.compile(r"^! Package minted Error: You must (?:invoke|have)", re.MULTILINE)
_BROKEN_PICTURE = re.compile(r"^! ?pdfTeX error: \S{1,200} \(file ([^)\n]{1,300})\): (?!Font)", re.MULTILINE)
_BITMAP_FONT = re.compile(r"^! ?pdfTeX error:.{0,300}Font ([\w-]{1,60}) at (\d{2,4}) not found", re.MULTILINE)
_NO_METRICS = re.compile(
    r"^! Font [^\n=]{1,120}=([\w-]{1,60}) [^\n]{1,60} not loadable: Metric", re.MULTILINE
)
_CYRILLIC = re.compile(r"(?:wn|rx|l[abcdhl])[a-z]{1,3}\d{3,4}")
"""Fonts of the LH family, which no package has ready: METAFONT makes their metrics."""
MAX_FONTS = 24


@dataclass
class Build:
    """A document in its folder, and what came of building it."""

    root: Path  # the document's folder, which TeX may read
    main: str  # the main file, from the root
    engine: str = "pdflatex"
    pdf: Path | None = None  # this, the log and the reason are those of the last pass
    log: str = ""
    reason: str | None = None  # why there is something wrong with it
    cpu_s: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def missing_signs(self) -> frozenset[str]:
        """Return characters that a font lacks: its page shows a box for them, or nothing."""
        return frozenset(_MISSING_SIGN.findall(self.log))

    @property
    def in_columns(self) -> frozenset[int]:
        """Return the pages that TeX sets in two columns, as the marks say."""
        found = enumerate(_COLUMNS.findall(self.log), start=1)
        return frozenset(number for number, columns in found if columns == "2")

    @property
    def folder(self) -> Path:
        """Return where TeX runs."""
        return (self.root / self.main).parent

    @property
    def job(self) -> str:
        """Return TeX's name for the document, which its text may show."""
        return PurePosixPath(self.main).stem

    @property
    def is_fatal(self) -> bool:
        """Return whether an error ended the last pass that cannot be passed over."""
        ended = "Fatal error occurred" in self.log or "Emergency stop" in self.log or "! " not in self.log
        return self.reason is not None and ended

    def run(self, begin: str = "", *, draft: bool = False) -> None:
        """Run one pass, with more at the beginning if need be; ignore errors."""
        same_each_time = pdflatex.REPRODUCIBLE if self.engine == "pdflatex" else ""
        result = pdflatex.compile_latex(
            f"{same_each_time}{begin}\\input{{{PurePosixPath(self.main).name}}}\n",
            self.folder,
            name=LAUNCHER,
            job=self.job,
            engine=self.engine,
            root=self.root,
            draft=draft,
            halt_on_error=False,
            limits=LIMITS,
        )
        self.pdf, self.log, self.reason = result.pdf, result.log, result.reason
        self.cpu_s += result.cpu_s

    def tool(self, *command: str) -> bool:
        """Run bibtex and its like; whether it went well."""
        program = shutil.which(command[0])
        if program is None:
            self.notes.append(f"{command[0]} is not installed, so its part of the document is missing")
            return False
        ran = pdflatex.run_confined([program, *command[1:]], self.folder, TOOL_LIMITS, root=self.root)
        self.cpu_s += ran.cpu_s
        return ran.code == 0 and ran.exceeded is None

    def state(self) -> str:
        """Return a hash of all that one pass hands to the next."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")):
            if _STATES.fullmatch(path.suffix) and path.is_file():
                digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()


def repair(build: Build, *, fatal: bool) -> bool:
    """Mend what the log of the last run complains of; whether it is worth another run."""
    mended = _metrics(build) or _without_shell(build)
    return mended or (fatal and (_picture(build) or _bitmap_font(build) or _stand_in(build)))


def _picture(build: Build) -> bool:
    """Return a grey picture in the place of one that is broken: it ends pdfTeX."""
    match = _BROKEN_PICTURE.search(build.log)
    if match is None:
        return False
    path = Path(os.path.normpath(build.folder / match[1]))
    kind = PICTURES.get(path.suffix.lower())
    if kind is None or not path.is_relative_to(build.root) or path.is_symlink() or not path.is_file():
        return False
    from PIL import Image

    stream = io.BytesIO()
    grey = Image.new("L", (240, 180), 210)
    if kind == "PDF":  # any page of it may be asked for
        grey.save(stream, kind, save_all=True, append_images=[grey] * (PICTURE_PAGES - 1), **_UNDATED)
    else:
        grey.save(stream, kind)
    if path.read_bytes() == stream.getvalue():
        return False
    path.write_bytes(stream.getvalue())
    build.notes.append(f"the picture {match[1]} is broken; a grey one replaces it")
    return True


def _metrics(build: Build) -> bool:
    """Return the metrics of Cyrillic fonts, which TeX would ask a shell for."""
    made = False
    for name in list(dict.fromkeys(_NO_METRICS.findall(build.log)))[:MAX_FONTS]:
        target = build.folder / f"{name}.tfm"
        if _CYRILLIC.fullmatch(name) is None or target.exists():
            continue
        (build.folder / f"{name}.mf").write_text("input fikparm;\n", encoding="ascii")
        build.tool("mf-nowin", "-base=mf", rf"\mode:=ljfour; nonstopmode; input {name}")
        if target.is_file():
            build.notes.append(f"the metrics of the font {name} were made by METAFONT")
            made = True
    return made


def _bitmap_font(build: Build) -> bool:
    """Return a font that only METAFONT has, drawn in the document's folder."""
    match = _BITMAP_FONT.search(build.log)
    if match is None:
        return False
    name, dpi = match[1], int(match[2])
    target = build.folder / f"{name}.{dpi}pk"
    if target.exists():
        return False
    draw = rf"\mode:=ljfour; mag:={dpi}/{BITMAP_DPI}; nonstopmode; input {name}"
    build.tool("mf-nowin", "-base=mf", draw)  # it complains of strange paths and draws all the same
    drawn = build.folder / f"{name}.{dpi}gf"
    if not drawn.is_file() or not build.tool("gftopk", drawn.name, target.name):
        return False
    build.notes.append(f"the font {name} has no outlines: it was drawn at {dpi} dots per inch")
    return True


def _stand_in(build: Build) -> bool:
    """Put something in the place of a file whose absence ends TeX; whether that can be done.

    A part of the text that is missing is left out, and so is a package that nobody has (one that Debian has
    is named in the refusal). A class can be replaced by another version of it, and else not.
    """
    file = missing_file(build.log)
    if file is None:
        return False
    path = Path(os.path.normpath(build.folder / file))
    if not path.is_relative_to(build.root) or path.exists():
        return False
    other = STAND_INS.get(file)
    if other is not None:
        lines = (
            rf"\ProvidesClass{{{path.stem}}}[2000/01/01 stand-in]",
            rf"\DeclareOption*{{\PassOptionsToClass{{\CurrentOption}}{{{other}}}}}\ProcessOptions\relax",
            rf"\LoadClass{{{other}}}",
        )
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        build.notes.append(f"{file} is missing; {other} replaces it")
        return True
    if path.suffix == ".sty" and package_of(file) is None:
        said = ", and no Debian package of TeX has it; made without it"
        text = "\\DeclareOption*{}\\ProcessOptions"
    elif path.suffix == ".tex":
        text, said = "", "; the document is made without it"
    else:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\\relax\n", encoding="utf-8")
    build.notes.append(f"{file} is missing{said}")
    return True


def _without_shell(build: Build) -> bool:
    """Put a package that needs no program in the place of one that does; whether there is one."""
    place = build.folder / "minted.sty"
    if not _WANTS_MINTED.search(build.log) or place.exists():
        return False
    shutil.copy(MINTED, place)
    build.notes.append("minted wants to run a program, which is not done: its listings are black")
    return True


INDEX = Path(__file__).with_name("debian_files.tsv.gz")
"""Package, tab, its files: of Debian 12, by `apt-file search -x '/tex/.*\\.(sty|cls|…)$'`."""

_MISSING = (
    re.compile(r"^! LaTeX Error: File `([^'\n]{1,200})' not found", re.MULTILINE),
    re.compile(r"^! I can't find file `([^'\n]{1,200})'", re.MULTILINE),
    re.compile(r"^! ?pdfTeX error: \S{1,200} \(file ([^)\n]{1,200})\): (?:Font|cannot open)", re.MULTILINE),
    re.compile(r"^! Font \S+=([\w.-]{1,100}) (?:at \S+ )?not load", re.MULTILINE),
)


def missing_file(log: str) -> str | None:
    """Return the first file that a run of TeX did not find."""
    found = [(match.start(), match[1]) for pattern in _MISSING if (match := pattern.search(log))]
    return min(found)[1] if found else None


def package_of(file: str) -> str | None:
    """Return the Debian package that has a file, by its name.

    >>> package_of("IEEEtran.cls"), package_of("mine.sty")
    ('texlive-publishers', None)
    """
    if re.match(r"(ec|tc|la|lb|lc)(rm|bx|ti|tt|ss|sl|cc|bi|it|st|sx|so|xc|vt|ui)[a-z]?\d{4}", file):
        return "cm-super"
    packages = _packages()
    return packages.get(file) or packages.get(f"{file}.sty")


@lru_cache(maxsize=1)
def _packages() -> dict[str, str]:
    packages: dict[str, str] = {}
    for line in gzip.decompress(INDEX.read_bytes()).decode().splitlines():
        name, _, files = line.partition("\t")
        for file in files.split():
            if file not in packages or name.startswith("texlive-"):
                packages[file] = name
    return packages
