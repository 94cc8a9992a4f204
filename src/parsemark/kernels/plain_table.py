"""Tables in the plainest HTML, read in one pass: the twin of plain_table.cpp.

One table, with at most `<html>`, `<head></head>` and `<body>` around it. Every element is closed, rows may be
in `thead`, `tbody` or `tfoot`, and attributes are harmless. A cell holds text, common character references,
and emphasis, scripts and line breaks, properly nested and without attributes. Every HTML parser builds the
same tree from that. For anything else the result is None, and the text needs a full parser.
"""

import re

PlainTableEntries = tuple[
    int,  # where the table starts
    int,  # where it ends
    list[int],  # number of cells in each row
    list[str],  # text of each cell without its markup, white space as single spaces
    dict[int, tuple[int, int]],  # rowspan and colspan of the cells that cover several positions
    list[bool] | None,  # which cells are headers (`th`, or in a `thead`); None if no cell or row is one
    dict[int, list[str]],  # cells with markup: text, tag, text, tag, …, text
]

_DEPTH = 16  # inline elements inside each other
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "nbsp": "\xa0", "#39": "'", "#x27": "'"}

_GAP = r"[ \t\n\r]*+"
_SPAN = r"[1-9][0-9]{0,2}(?![0-9])"
_VALUE = r"[A-Za-z0-9 _#.,:;%-]"
_STYLE = rf"(?:(?!display|visibility|opacity|font-size|color){_VALUE})*+"  # hides nothing
_NAMES = "align|border|cellpadding|cellspacing|class|height|id|scope|valign|width"
_ATTRIBUTE = (
    rf"(?:(?:row|col)span{_GAP}={_GAP}(?:\"{_SPAN}\"|'{_SPAN}'|{_SPAN})"
    rf"|style{_GAP}={_GAP}(?:\"{_STYLE}\"|'{_STYLE}')"
    rf"|(?:{_NAMES}){_GAP}={_GAP}(?:\"{_VALUE}*+\"|'{_VALUE}*+'|[A-Za-z0-9_#.%-]++))"
)
_TEXT = (
    "(?:[^<&\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]"
    rf"|&(?-i:{'|'.join(_CHARACTERS)});|&(?= ))*+"
)
_MARK = r"<(?:/?(?:b|i|u|em|strong|sup|sub|span)|br ?/?)>"
_FLAGS = re.IGNORECASE | re.ASCII
_TOKEN = re.compile(
    rf"{_GAP}<(?:(?P<other>/?(?:html|head|body)|/(?:table|thead|tbody|tfoot|tr))>"
    rf"|(?P<name>table|thead|tbody|tfoot|tr|(?P<cell>td|th))"
    rf"(?P<attributes>(?=[^<>]{{0,1000}}>)(?:[ \t\n\r]++{_ATTRIBUTE}(?=[ \t\n\r>]))*+){_GAP}>"
    rf"(?(cell)(?P<inside>{_TEXT}(?:{_MARK}{_TEXT})*+)</(?P=cell)>))",
    _FLAGS,
)
_LETTERS = dict(
    zip(("html", "head", "body", "table", "thead", "tbody", "tfoot", "tr"), "xyzthbfr", strict=True)
)
_LETTERS |= {f"/{name}": letter.upper() for name, letter in _LETTERS.items()} | {"td": "c", "th": "c"}
_WHOLE = re.compile(r"x?(?:yY)?z?t(?:rc*+R|h(?:rc*+R)*+H|b(?:rc*+R)*+B|f(?:rc*+R)*+F)*+TZ?X?")
"""The order of a table's tags, each as a letter."""
_SPANS = re.compile(rf"(row|col)span{_GAP}={_GAP}[\"']?([0-9]++)", _FLAGS)
_MARKS = re.compile(r"<([^>]++)>")
_REFERENCE = re.compile("&([a-z0-9#]++);")


def read_plain_table(text: str) -> PlainTableEntries | None:
    """Return the cells of a text that is one plain table; None if it is anything else."""
    lengths: list[int] = []
    texts: list[str] = []
    spans: dict[int, tuple[int, int]] = {}
    headers: list[bool] = []
    marked: dict[int, list[str]] = {}
    order: list[str] = []
    start = end = position = 0
    in_head = says_headers = False
    while (token := _TOKEN.match(text, position)) is not None:
        position = token.end()
        name = (token["other"] or token["name"]).lower()
        order.append(_LETTERS[name])
        if name == "table":
            start = token.start() + len(token[0]) - len(token[0].lstrip())
        elif name == "/table":
            end = position
        elif name in ("thead", "/thead"):
            in_head = name == "thead"
        elif name == "tr":
            lengths.append(0)
            says_headers |= in_head
        if token["cell"] is None:
            continue
        spanned = _SPANS.findall(token["attributes"].lower())
        span = dict(spanned)
        pieces = _pieces(token["inside"])
        if len(span) < len(spanned) or pieces is None or not lengths:
            return None
        if {*span.values()} - {"1"}:
            spans[len(texts)] = int(span.get("row", 1)), int(span.get("col", 1))
        if len(pieces) > 1:
            marked[len(texts)] = pieces
        texts.append(" ".join("".join(pieces[::2]).split()))
        headers.append(name == "th" or in_head)
        says_headers |= name == "th"
        lengths[-1] += 1
    if text[position:].strip(" \t\n\r") or _WHOLE.fullmatch("".join(order)) is None:
        return None
    return start, end, lengths, texts, spans, headers if says_headers else None, marked


def _pieces(inside: str) -> list[str] | None:
    """Return text, tag, text, …, text of a cell; None if its elements are not properly nested."""
    pieces = _MARKS.split(inside)
    opened: list[str] = []
    for k in range(1, len(pieces), 2):
        tag = pieces[k] = pieces[k].lower().rstrip(" /")
        if tag.startswith("/"):
            if not opened or opened.pop() != tag[1:]:
                return None
        elif tag != "br":
            opened.append(tag)
            if len(opened) > _DEPTH:
                return None
    pieces[::2] = [_REFERENCE.sub(lambda found: _CHARACTERS[found[1]], piece) for piece in pieces[::2]]
    return None if opened else pieces
