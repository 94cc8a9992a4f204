"""`corpus make … --commit`, `--reveal` and `corpus reveal`: pages that nobody knows beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from typer import Argument, Option

from parsemark.errors import UsageError
from parsemark.plain_words import visible

if TYPE_CHECKING:
    from parsemark.corpora.fresh import Secret

OptionsT = TypeVar("OptionsT")
Commit = Annotated[
    Path | None,
    Option(
        help="Write a hash of seed, generator and pages here, to publish before, and FILE.secret.json, to "
        "publish after. Without --seed one is drawn."
    ),
]
Reveal = Annotated[
    Path | None,
    Option(
        help="Make the pages of FILE.secret.json again and show that they are those of the commitment "
        "(FILE.json beside it, or --commit). Takes the place of all other options."
    ),
]


@dataclass(frozen=True)
class Fresh:
    """What a maker was asked to commit to or to reveal."""

    commit: Path | None
    reveal: Path | None

    def __post_init__(self) -> None:
        """Refuse to lose the secret of an earlier commitment, before anything is made."""
        from parsemark.corpora.fresh import require_free

        if self.commit is not None and self.reveal is None:
            require_free(self.commit)

    def secret(self, renderer: str) -> Secret | None:
        """What was revealed of pages that were made with a renderer."""
        from parsemark.corpora.fresh import read_secret

        if self.reveal is None:
            return None
        secret = read_secret(self.reveal)
        made_with = secret.settings.get("renderer", secret.settings.get("maker", "latex"))
        if made_with != renderer:
            raise UsageError(f"{self.reveal} is of pages made with {made_with}, but this makes {renderer}.")
        return secret

    def seed(self, given: int | None) -> int:
        """The seed to use: as given, or drawn where pages are committed to, or 0."""
        from parsemark.corpora.fresh import draw_seed

        if given is not None:
            return given
        return draw_seed() if self.commit is not None else 0

    def options(self, secret: Secret, kind: Callable[..., OptionsT], generator: str) -> OptionsT:
        """The options of a maker as the secret has them."""
        if secret.generator != generator:
            raise UsageError(f"{self.reveal} is of {secret.generator!r}, but this makes {generator!r}.")
        settings = {k: tuple(v) if isinstance(v, list) else v for k, v in secret.settings.items()}
        settings.pop("replaced", None)
        try:
            return kind(**{**settings, "seed": secret.seed, "name": secret.name})
        except (TypeError, AttributeError) as error:
            raise UsageError(
                f"{self.reveal} has settings that this generator does not know: {error}"
            ) from error

    def finish(self, out: Path) -> None:
        """Write the commitment, or say whether the pages are those that were committed to."""
        from parsemark.corpora.fresh import commit, commitment_path

        if self.reveal is not None:
            show_reveal(out, self.reveal, self.commit or commitment_path(self.reveal))
        elif self.commit is not None:
            public, kept = commit(out, self.commit)
            print(f"{self.commit}: publish this now: {public.commitment}")
            print(f"{kept}: keep this secret, and publish it with the results")


def show_reveal(root: Path, secret: Path, commitment: Path) -> None:
    """Print whether the pages in a folder are those of a commitment; exit code 1 if not."""
    from parsemark.corpora.fresh import differences, read_secret, same_pdfs

    revealed = read_secret(secret)
    found = list(differences(root, revealed, commitment))
    for difference in found:
        print(visible(f"✗ {difference}"))
    if found:
        raise typer.Exit(1)
    pdfs = "PDFs too" if same_pdfs(root, revealed) else "their PDFs have other bytes: they were set anew"
    print(f"✓ {root}: the pages that were committed to in {commitment} ({pdfs})")


def reveal(
    corpus: Annotated[Path, Argument(help="Folder of the corpus that was used.")],
    secret: Annotated[Path, Argument(help="FILE.secret.json, which was kept until now.")],
    commitment: Annotated[
        Path | None, Argument(help="What was published before.", show_default="FILE.json beside it")
    ] = None,
) -> None:
    """Show that a corpus is the one that was committed to before. Exit code 1 if it is not."""
    from parsemark.corpora.fresh import commitment_path

    show_reveal(corpus, secret, commitment or commitment_path(secret))
