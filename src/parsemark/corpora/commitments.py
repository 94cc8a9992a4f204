"""Fresh corpora: pages that nobody has seen beforehand, and proof afterwards that they are those.

The maker of a corpus publishes a *commitment*, a hash of seed, generator, settings and pages together with a
random number, and keeps the *secret*, which holds all of these. Parsers are run. Then the secret is
published: everybody can see that it fits the commitment, that the pages are those of the secret, and make
them again from the seed. The random number keeps others from trying all seeds; the hash keeps the maker from
choosing pages after the results are known.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from parsemark.corpora.files import hash_of_files
from parsemark.corpora.loaders.files import read_model
from parsemark.corpora.schema import CorpusFile
from parsemark.errors import CorpusError
from parsemark.system import file_sha256, write_text

MAX_FILE_BYTES = 2**20
_HASH = r"^[0-9a-f]{64}$"


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1


class Commitment(_File):
    """What is published before."""

    format: Literal["parsemark-commitment"] = "parsemark-commitment"
    name: str
    generator: str
    n_files: int
    commitment: str = Field(pattern=_HASH)  # SHA-256 of the secret, as `Secret.digest` takes it


class Secret(_File):
    """What is published afterwards."""

    format: Literal["parsemark-secret"] = "parsemark-secret"
    name: str
    generator: str
    seed: int
    settings: dict[str, Any]
    truth: str = Field(pattern=_HASH)  # of the files in `truth/`: the same wherever the corpus is made again
    pages: str = Field(pattern=_HASH)
    """Of all files, PDFs included: these may differ between versions of TeX or fonts."""
    nonce: str = Field(pattern=r"^[0-9a-f]{32,128}$")

    def digest(self) -> str:
        """SHA-256 of the canonical JSON."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def draw_seed() -> int:
    """A seed that nobody guesses."""
    return secrets.randbelow(2**53)


def secret_path(commitment: Path) -> Path:
    """Where the secret of a commitment lies: `fresh.json` has `fresh.secret.json`."""
    return commitment.with_name(f"{commitment.stem}.secret.json")


def commitment_path(secret: Path) -> Path:
    """Inverse of `secret_path`."""
    return secret.with_name(secret.name.removesuffix(".json").removesuffix(".secret") + ".json")


def require_free(commitment: Path) -> None:
    """Raise CorpusError for a commitment or secret that is there: without it nothing can be revealed."""
    for path in (secret_path(commitment), commitment):
        if path.exists():
            raise CorpusError(f"{path} is there already, of an earlier commitment. Choose another name.")


def commit_to(root: Path, commitment: Path) -> tuple[str, str]:
    """Write the commitment to a corpus that a maker just made from a seed, and its secret beside it.

    Return two sentences that say what to do with the files.
    """
    require_free(commitment)
    manifest = read_model(root / "corpus.json", CorpusFile)
    if manifest.seed is None or manifest.generator is None:
        raise CorpusError(f"{root} was not made from a seed; there is nothing to commit to.")
    secret = Secret(
        name=manifest.name,
        generator=manifest.generator,
        seed=manifest.seed,
        settings=manifest.settings,
        truth=_hash_of_truth(manifest.files),
        pages=manifest.hash,
        nonce=secrets.token_hex(32),
    )
    public = Commitment(
        name=secret.name, generator=secret.generator, n_files=len(manifest.files), commitment=secret.digest()
    )
    kept = secret_path(commitment)
    write_text(kept, secret.model_dump_json(indent=2) + "\n")
    kept.chmod(0o600)
    write_text(commitment, public.model_dump_json(indent=2) + "\n")
    return (
        f"{commitment}: publish this now: {public.commitment}",
        f"{kept}: keep this secret, and publish it with the results",
    )


def read_secret(path: Path) -> Secret:
    """Read a secret that was revealed; it comes from somebody else."""
    return read_model(path, Secret, MAX_FILE_BYTES)


def differences(root: Path, secret: Secret, commitment: Path) -> Iterator[str]:
    """Why the pages of a corpus are not those that were committed to; nothing if they are.

    The corpus at `root` is the one that was used, or one that was made again from the secret.
    """
    public = read_model(commitment, Commitment, MAX_FILE_BYTES)
    if secret.digest() != public.commitment:
        yield f"The secret does not fit the commitment {public.commitment[:16]}… in {commitment}."
    manifest = read_model(root / "corpus.json", CorpusFile)
    for key in ("name", "generator", "seed"):
        if getattr(manifest, key) != getattr(secret, key):
            yield f"The {key} of {root} is {getattr(manifest, key)!r}, and not {getattr(secret, key)!r}."
    ours, theirs = manifest.settings, secret.settings
    if ours != theirs:
        changed = [k for k in sorted(ours.keys() | theirs.keys()) if ours.get(k) != theirs.get(k)]
        yield f"The settings of {root} differ: {', '.join(changed)}."
    inside = root.resolve()
    for name, digest in manifest.files.items():
        path = (root / name).resolve()
        if not path.is_relative_to(inside) or not path.is_file() or file_sha256(path) != digest:
            yield f"{name} is missing in {root}, or is not what its corpus.json says."
    if hash_of_files(manifest.files) != manifest.hash:
        yield f"corpus.json of {root} does not fit its own files."
    if _hash_of_truth(manifest.files) != secret.truth:
        yield f"The truths in {root} are not those that were committed to."


def committed_note(root: Path, secret: Secret, commitment: Path) -> str:
    """Say that the pages are those of the commitment, and whether the PDFs are the same, byte for byte."""
    is_same = read_model(root / "corpus.json", CorpusFile).hash == secret.pages
    pdfs = "the PDFs too" if is_same else "but other bytes of PDFs, which were set anew"
    return f"These are the pages that {commitment} commits to ({pdfs})."


def _hash_of_truth(files: dict[str, str]) -> str:
    return hash_of_files({name: digest for name, digest in files.items() if name.startswith("truth/")})
