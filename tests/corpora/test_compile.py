"""LaTeX is compiled confined: what a hostile source tries costs only itself."""

import shutil
import zlib
from pathlib import Path

import pytest

from parsemark.errors import MissingDependencyError
from parsemark.system import pdflatex as compiling
from parsemark.system.pdflatex import CompileLimits, compile_latex, precompiled

pytestmark = [
    pytest.mark.latex,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed"),
]


def document(body: str, preamble: str = "") -> str:
    return f"\\documentclass{{article}}{preamble}\\begin{{document}}{body}\\end{{document}}\n"


def contents(pdf: Path) -> bytes:
    data = pdf.read_bytes()
    streams = data.split(b"stream\n")[1::2]
    plain = []
    for stream in streams:
        try:
            plain.append(zlib.decompressobj().decompress(stream))
        except zlib.error:
            plain.append(stream)
    return data + b"".join(plain)


def test_the_same_source_gives_the_same_bytes(tmp_path: Path) -> None:
    source = compiling.REPRODUCIBLE + document("Hello $x^2$.")
    first = compile_latex(source, tmp_path / "a")
    second = compile_latex(source, tmp_path / "b")
    assert first.ok
    assert first.cpu_s > 0
    assert first.pdf.read_bytes() == second.pdf.read_bytes()


def test_an_error_is_named_with_its_line(tmp_path: Path) -> None:
    result = compile_latex(document("\n\\nosuchmacro"), tmp_path)
    assert not result.ok
    assert result.reason == "Undefined control sequence. (line 2)"


def test_no_shell(tmp_path: Path) -> None:
    compile_latex(document(r"\immediate\write18{touch pwned}x"), tmp_path)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    "attempt",
    [
        r"\input{SECRET}",
        r"\openin3=SECRET \read3 to\x \x",
        r"\immediate\pdfobj stream file{SECRET}\pdfrefobj\pdflastobj x",
        r"\pdffiledump offset 0 length 200{SECRET}x",
        r"\input{../secret.txt}",
    ],
)
def test_no_reading_outside_the_folder(tmp_path: Path, attempt: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("treasure island")
    result = compile_latex(document(attempt.replace("SECRET", str(secret))), tmp_path / "work")
    assert result.pdf is None or b"treasure" not in contents(result.pdf)
    assert "treasure" not in result.log


def test_no_reading_of_the_password_file(tmp_path: Path) -> None:
    result = compile_latex(document(r"\input{/etc/passwd}"), tmp_path)
    assert not result.ok
    assert "root:" not in result.log


@pytest.mark.parametrize("target", ["../stolen.txt", "ABSOLUTE"])
def test_no_writing_outside_the_folder(tmp_path: Path, target: str) -> None:
    name = target.replace("ABSOLUTE", str(tmp_path / "stolen.txt"))
    body = rf"\newwrite\w\immediate\openout\w={name} \immediate\write\w{{x}}x"
    compile_latex(document(body), tmp_path / "work")
    assert not (tmp_path / "stolen.txt").exists()


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.tex").write_text("treasure island")
    work = tmp_path / "work"
    work.mkdir()
    (work / "link.tex").symlink_to(tmp_path / "secret.tex")
    result = compile_latex(document(r"\input{link.tex}"), work)
    if not result.ok:
        assert "treasure" not in result.log
    else:
        pytest.skip("this kernel has no Landlock")


def test_an_endless_loop_is_ended(tmp_path: Path) -> None:
    result = compile_latex(document(r"\loop\iftrue\repeat"), tmp_path, limits=CompileLimits(cpu_s=1))
    assert not result.ok
    assert "1 s of CPU time" in result.reason


def test_a_loop_that_waits_is_ended_by_the_clock(tmp_path: Path) -> None:
    result = compile_latex(
        document(r"\loop\iftrue\repeat"), tmp_path, limits=CompileLimits(cpu_s=60, wall_s=1.0)
    )
    assert "longer than 1 s" in result.reason


def test_gigabytes_of_output_are_cut_off(tmp_path: Path) -> None:
    body = r"\newwrite\w\immediate\openout\w=big.txt \def\x{0123456789}\edef\x{\x\x\x\x\x\x\x\x}"
    body += r"\edef\x{\x\x\x\x\x\x\x\x\x\x}\loop\iftrue\immediate\write\w{\x}\repeat"
    result = compile_latex(document(body), tmp_path, limits=CompileLimits(cpu_s=20, output_mb=2))
    assert not result.ok
    assert sum(f.stat().st_size for f in tmp_path.iterdir()) < 10 * 2**20


def test_memory_is_bounded(tmp_path: Path) -> None:
    body = r"\def\x{x}\loop\iftrue\edef\x{\x\x}\repeat"
    assert not compile_latex(document(body), tmp_path, limits=CompileLimits(cpu_s=20, memory_mb=512)).ok


def test_a_precompiled_preamble_gives_the_same_page(tmp_path: Path) -> None:
    preamble = r"\documentclass{article}\usepackage{booktabs}"
    format = precompiled(preamble, tmp_path / "cache")
    assert precompiled(preamble, tmp_path / "cache") == format
    body = compiling.REPRODUCIBLE + r"\begin{document}\begin{tabular}{l}\toprule a\end{tabular}\end{document}"
    fast = compile_latex(body, tmp_path / "a", format=format)
    slow = compile_latex(preamble + body, tmp_path / "b")
    assert fast.ok
    assert contents(fast.pdf) == contents(slow.pdf)


def test_a_missing_pdflatex_says_how_to_install_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependencyError, match="apt-get install"):
        compile_latex("x", tmp_path)


def test_an_embedded_file_is_noticed_even_without_landlock(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(compiling, "_readable", lambda: ("/",))
    secret = tmp_path / "secret.txt"
    secret.write_text("treasure island")
    body = rf"\immediate\pdfobj stream file{{{secret}}}\pdfrefobj\pdflastobj x"
    result = compile_latex(document(body), tmp_path / "work")
    assert not result.ok
    assert result.pdf is None
    assert "embedded a file from outside" in result.reason


def test_the_memory_of_tex_grows_with_its_document(tmp_path: Path) -> None:
    doubled = (
        r"\def\x{aaaaaaaaaa}" + r"\edef\x{\x\x}" * 20
    )  # ten million tokens, twice what TeX is installed with
    result = compile_latex(document(f"{doubled} done"), tmp_path, limits=CompileLimits(memory_mb=4096))
    assert result.ok, result.reason
