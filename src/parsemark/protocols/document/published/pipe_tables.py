"""Pipe tables as HTML, as the published code converts them, its losses included (section 3.9)."""

from __future__ import annotations

from collections.abc import Iterator

from parsemark.protocols.document.published.scan import spans

_COMMENT = (("<!--", "-->"),)
_TABLE = (("<table>", "</table>"),)
_DROPPED = ("<table>", "<thead>", "<tbody>", "</table>", "</thead>", "</tbody>")


def has_pipe_tables(text: str) -> bool:
    """Whether there are at least two segments."""
    segments = _segments(text + "\n")
    return next(segments, None) is not None and next(segments, None) is not None


def _segments(text: str) -> Iterator[tuple[int, int]]:
    """From a pipe to the first later one at the end of a line, the newline included."""
    position = 0
    while (start := text.find("|", position)) >= 0:
        end = text.find("|\n", start + 1)
        if end < 0:
            return
        yield start, end + 2
        position = end + 2


def convert_pipe_tables(text: str) -> str:
    """The whole text with its pipe tables as HTML.

    The published code replaces the first occurrence of each segment in turn. `_as_table` writes no pipe,
    and a segment starts at the first pipe behind the one before, so that is the segment itself.
    """
    text = text.replace("\r", "") + "\n"
    parts: list[str] = []
    done = 0
    for start, end in _segments(text):
        parts += (text[done:start], _as_table(text[start:end]))
        done = end
    text = _join_rows("".join(parts) + text[done:])
    return text.replace("<table>", '<table border="1" >').replace("<td>", '<td colspan="1" rowspan="1">')


def _as_table(segment: str) -> str:
    lines = [line.strip() for line in segment.strip().split("\n")]
    out = ["<table>\n  <thead>\n    <tr>\n"]
    out += (f"      <th>{cell}</th>\n" for cell in _cells(lines[0]))
    out.append("    </tr>\n  </thead>\n  <tbody>\n")
    for line in lines[2:]:
        out.append("    <tr>\n")
        out += (f"      <td>{cell}</td>\n" for cell in _cells(line))
        out.append("    </tr>\n")
    out.append("  </tbody>\n</table>\n")
    return "".join(out)


def _cells(line: str) -> list[str]:
    return [part.strip() for part in line.split("|")[1:-1]]


def _join_rows(text: str) -> str:
    """Tables that follow each other as one."""
    out: list[str] = []
    buffer: list[str] = []
    inside = False
    last = ""
    for line in text.split("\n"):
        if "<table>" in line:
            inside = True
            buffer.append(last)
        elif inside:
            if not (":" in last or "---" in last or "</thead>" in last):
                buffer += ("\n", last)
            if "</table>" in last:
                inside = False
                out.append(_one_table("".join(buffer)))
                buffer = []
        else:
            out.append(last)
        last = line
    if last != "":
        if inside or "</table>" in last:
            out.append(_one_table("".join(buffer) + "\n" + last))
        else:
            out.append(last)
    return "\n".join(out)


def _one_table(text: str) -> str:
    parts, done = [], 0
    for comment in spans(text, _COMMENT, dotall=True):
        parts.append(text[done : comment.start])
        done = comment.end
    text = "".join(parts) + text[done:]
    kept: list[str] = []
    for table in spans(text, _TABLE, dotall=True):
        lines = []
        for line in text[table.start : table.end].split("\n"):
            if any(tag in line for tag in _DROPPED):
                continue
            lines.append(line.replace("<th>", "<td>").replace("</th>", "</td>") if "<th>" in line else line)
        if len(lines) > 2:
            kept += lines
    return "\n\n<table>\n" + "\n".join(kept) + "\n</table>\n\n"
