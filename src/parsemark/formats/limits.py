"""The limits of what is read. Over any of them the answer is a FormatError, never a hang.

They are far above what pages hold, and low enough that reading stays within seconds and a few hundred MB.
"""

from parsemark.errors import FormatError

MAX_CHARS = 5_000_000  # characters of one text
MAX_LINES = 200_000  # lines of one text
MAX_TABLES = 2_000  # tables in one text
MAX_ROWS = 100_000  # rows of one table
MAX_COLUMNS = 10_000  # columns of one table
MAX_SPAN = 1_000  # rows or columns of one cell (the HTML standard's own limit for colspan)
MAX_GRID = 250_000  # grid positions (rows × columns) of one table
MAX_DRAWN_GRID = 50_000  # grid positions of one drawn table, whose walls have to be followed
MAX_CELL_CHARS = 100_000  # characters of one cell
MAX_LATEX_CHARS = 1_000_000  # characters of one LaTeX table or formula
MAX_VERB_CHARS = 1_000  # characters of one `\verb|…|`
MAX_LATEX_RUN = 40_000
"""Tokens of one LaTeX cell, or of running LaTeX between two formulas, whose commands are read."""
MAX_LATEX_ROWS = 25_000  # rows of one LaTeX table, each of which is read token by token
MAX_LATEX_DEPTH = 50  # groups, arguments and environments inside each other in one cell
MAX_LATEX_EXPANSIONS = 10_000
r"""Uses of macros that the source itself defines (`\newcommand`), so that none can explode."""
MAX_LATEX_EXPANDED_CHARS = 200_000  # characters that those uses may add

MAX_MARKDOWN_DEPTH = 100  # lists, list items and block quotes inside each other in Markdown


def check_size(text: str, limit: int = MAX_CHARS) -> None:
    """Refuse a text that is too long."""
    if len(text) > limit:
        has = f"The text has {len(text):,} characters"
        raise FormatError(f"{has}; at most {limit:,} are read. Split it into pages", position=limit)


def check_lines(count: int, position: int | None = None) -> None:
    """Refuse a text of too many lines."""
    if count > MAX_LINES:
        why = f"The text has {count:,} lines; at most {MAX_LINES:,} are read. Split it into pages"
        raise FormatError(why, position=position)


def check_tables(count: int, position: int | None = None) -> None:
    """Refuse a text with too many tables."""
    if count > MAX_TABLES:
        why = f"The text has more than {MAX_TABLES:,} tables. Split it into pages"
        raise FormatError(why, position=position)


def check_grid(n_rows: int, n_cols: int, position: int | None = None, limit: int = MAX_GRID) -> None:
    """Refuse a grid that is too large."""
    if n_rows > MAX_ROWS or n_cols > MAX_COLUMNS or n_rows * n_cols > limit:
        limits = f"{limit:,} grid positions ({MAX_ROWS:,} rows, {MAX_COLUMNS:,} columns)"
        raise FormatError(
            f"A table of {n_rows:,} x {n_cols:,} is over the limit of {limits}", position=position
        )
