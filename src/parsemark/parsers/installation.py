"""`uv`, by which packages are found and installed, in a process that sees neither corpora, runs nor keys.

Unpacking a wheel runs nothing of its author: wheels come through the cache that all environments share. A
build runs code of its author, which can write whatever `uv` can. So it has a cache of its own for this list
of packages: what it puts there reaches no other environment. Projects on this disk and repositories are
built only with permission.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from parsemark.errors import ParserError
from parsemark.parsers.needs import this_machine
from parsemark.system import cache_folder, make_folder
from parsemark.system.processes import confinement_for, run_program
from parsemark.system.scratch import ScratchFolder
from parsemark.system.secrets import is_secret_name

BUILD_TIMEOUT_S = 1800
ALLOW_BUILDS = "PARSEMARK_ALLOW_LOCAL_BUILDS"
"""The variable that permits builds of projects on this disk; commands have a flag for it."""
_GIVEN = re.compile(
    r"PATH|LANG|LC_\w+|TZ|(?:https?|all|no)_proxy|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE"
    r"|GIT_SSL_CAINFO|NODE_EXTRA_CA_CERTS|npm_config_registry|PIP_\w+|UV_(?!PUBLISH|GITHUB)\w+",
    re.I,
)
"""Variables of proxies, certificates and package indexes; no other is given."""
_PASSWORDS = re.compile(r".*(?:_USERNAME|CLIENT_CERT|CREDENTIALS_DIR)", re.I)
_LOGIN = re.compile(r"(?<=://)[^\s/@\"']+@")
_LOCAL_PATH = re.compile(r"(?:(?<=file://)|(?<![\w/:.~-]))/[^\s,;\"']+")
_REPOSITORY = re.compile(r"(?:@|^|-e)\s*(?:git|hg|svn|bzr)\+|-e\b|--editable\b|@\s*file:(?!\S+\.whl\b)")
_NEEDS_BUILD = re.compile(r"building from source is disabled|Building source distributions .*is disabled")

_NO_WHEEL = re.compile(r"(\S+) has no (?:usable wheels|wheels with a matching [\w ]+ tag)")
_WHEELS = re.compile(r"Wheels are available for .*? on the following platforms?: (.*)")


class BuildNeededError(ParserError):
    """A package has no wheel for this Python."""


class NoWheelError(ParserError):
    """A package has neither a wheel for this machine and Python nor anything to build one from."""


def require_permission(requirements: Iterable[str], projects: Iterable[Path]) -> bool:
    """Return whether projects on this disk or in repositories must be built; raise ParserError if that is not
    allowed.
    """
    local = [*(str(path) for path in projects), *(text for text in requirements if _REPOSITORY.search(text))]
    if local and not os.environ.get(ALLOW_BUILDS):
        raise ParserError(
            f"{local[0]} must be built here, which runs its author's code. If you trust it, allow that with "
            f"--allow-local-builds (or {ALLOW_BUILDS}=1)."
        )
    return bool(local)


def run_uv(
    *arguments: str,
    read: Iterable[Path] = (),
    write: Iterable[Path] = (),
    builds: str | None = None,
    confined: bool = True,
    variables: Mapping[str, str] | None = None,
) -> str:
    """Run `uv` with these files beside its own and return its output; raise ParserError with its message if
    it fails.

    `builds`: the name of the cache of what is built; without one nothing is built, and BuildNeededError says
    that something would have to be. `confined`: not needed where no package is touched.
    """
    own_cache = make_folder(cache_folder("builds"), builds) if builds else make_folder(_uv_folder("cache"))
    with ScratchFolder("parsemark-uv-") as scratch:
        env = network_variables(passwords=not builds)
        env |= {"TMPDIR": str(scratch), "UV_CACHE_DIR": str(own_cache), "UV_NO_PROGRESS": "1"}
        env |= {"HOME": str(scratch if confined else Path.home())}
        env |= {"UV_PYTHON_INSTALL_DIR": str(_uv_folder("python"))}
        if settings := _uv_settings():
            env["UV_CONFIG_FILE"] = str(_without_logins(settings, scratch) if builds else settings)
        env |= variables or {}
        writable = [str(path) for path in (scratch, own_cache, *write)]
        ours = [sys.prefix, sys.base_prefix, str(_uv_program().parent), str(_uv_folder("python"))]
        readable = [*writable, *map(str, read), *places_of(env), *ours]
        rights = None
        if confined:  # programs in packages are made executable
            rights = replace(confinement_for(readable, writable, network=True), sets_modes=True)
        flags = (
            ["--no-build"] if arguments[0] == "pip" and not builds else []
        )  # `uv pip` has no variable for it
        command = [str(_uv_program()), *arguments, *flags]
        try:
            done = run_program(command, rights, cwd=scratch, env=env, timeout_s=BUILD_TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            raise ParserError(f"uv {arguments[0]} did not finish within {BUILD_TIMEOUT_S} s.") from error
    if done.returncode == 0:
        return done.stdout.decode(errors="replace")
    said = (done.stderr.strip() or done.stdout.strip()).decode(errors="replace")
    if (absent := _NO_WHEEL.search(said)) and not (not builds and _NEEDS_BUILD.search(said)):
        there = _WHEELS.search(said)
        wheels = f" There are wheels for {there[1].replace('`', '')}." if there else ""
        raise NoWheelError(f"{absent[1]} has no wheel for this Python on {this_machine()}.{wheels}")
    failure = BuildNeededError if not builds and _NEEDS_BUILD.search(said) else ParserError
    if len(said) > 1500:  # it begins with what went wrong; then may come hundreds of hashes
        said = f"{said[:700]}\n…\n{said[-800:]}"
    raise failure(f"uv {' '.join(arguments[:2])} failed:\n{said}")


def network_variables(*, passwords: bool) -> dict[str, str]:
    """Return variables that say how the network is reached: proxies, certificates, package indexes. No keys.

    `passwords`: also those of package indexes, for a program that runs nobody's code but its own.
    """
    given = {name: value for name, value in os.environ.items() if _GIVEN.fullmatch(name)}
    if passwords:
        return given
    open_ = {n: v for n, v in given.items() if not (is_secret_name(n) or _PASSWORDS.fullmatch(n))}
    return {n: v if n.lower().endswith("_proxy") else _LOGIN.sub("", v) for n, v in open_.items()}


def _without_logins(settings: Path, folder: Path) -> Path:
    """Return the settings of `uv`, or a copy in the folder if they contain users and passwords."""
    text = settings.read_text(encoding="utf-8", errors="replace")
    if _LOGIN.search(text) is None:
        return settings
    copy = folder / "uv.toml"
    copy.write_text(_LOGIN.sub("", text), encoding="utf-8")
    return copy


def _uv_program() -> Path:
    import uv

    return Path(uv.find_uv_bin())


@cache
def _asked(what: str, _variables: tuple[tuple[str, str], ...]) -> Path:
    done = subprocess.run(
        [_uv_program(), what, "dir"], capture_output=True, text=True, check=False, timeout=60
    )
    if done.returncode:
        raise ParserError(f"uv {what} dir failed: {done.stderr.strip()[-300:]}")
    return Path(done.stdout.strip())


def _uv_folder(what: str) -> Path:
    """Return where `uv` keeps its `cache`, or each `python` that it has fetched."""
    return _asked(
        what, tuple(item for item in os.environ.items() if item[0].startswith(("HOME", "XDG_", "UV_")))
    )


def _uv_settings() -> Path | None:
    """Return the settings of `uv` of this user or this machine; never those of the folder that one is in."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    named = os.environ.get("UV_CONFIG_FILE")
    candidates = [Path(named)] if named else [home / "uv" / "uv.toml", Path("/etc/uv/uv.toml")]
    return next((path.absolute() for path in candidates if path.is_file()), None)


def places_of(env: Mapping[str, str]) -> Iterator[str]:
    """Yield files and folders that settings name: certificates, indexes on this disk."""
    texts = [value for name, value in env.items() if name not in ("PATH", "HOME")]
    if settings := env.get("UV_CONFIG_FILE"):
        texts.append(Path(settings).read_text(encoding="utf-8", errors="replace"))
    for text in texts:
        yield from _LOCAL_PATH.findall(text)
