"""What values are, whatever way they are written: times, dates, amounts, ranges, boxes.

A value of a kind is given in one way: `(2,530)` is `-2530`, `06.12` among times is `6:12`, `6:12 pm` is
`18:12`, `12 USD` is `$12`, `5 March 2024` is `2024-03-05`, `3.9 to 5.6` is `3.9-5.6`, `[x]` is a checked box.
What one text alone does not tell is told by the two tables: brackets around numbers may be signs or
deviations, a point may stand in a number or in a time, the day or the month may come first, and a comma may
be a decimal one: 1.234 alone may be either.
"""

import re
from functools import lru_cache, partial
from itertools import chain
from typing import NamedTuple

from parsemark.metrics.reader.sheet import Sheet, fold_cell

CHECKED, UNCHECKED = "✓", "☐"
_BOXES = {"☒": CHECKED, "🗹": CHECKED, "⊠": CHECKED, "☑": CHECKED, "☐": UNCHECKED, "▢": UNCHECKED}
_BOXES |= {"": UNCHECKED, "x": CHECKED, "X": CHECKED, "✓": CHECKED}
_BOX = re.compile(r"[☒🗹⊠☑☐▢]|(?<!\w)\[([ xX✓]?)\](?!\()")
_CURRENCIES = {"US$": "$", "USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "RMB": "CNY"}
_MONEY = r"US\$|[$€£¥₹]|(?:USD|EUR|GBP|JPY|INR|CHF|CNY|RMB)\b"
_AMOUNT = re.compile(rf"(-?)({_MONEY})\s?(-?)(\d[\d.;e]*)|(-?)(\d[\d.;e]*)\s?({_MONEY})")
_GROUPED = r"\d{1,3}(?:[,.\s'’]\d{3})+(?:[.,]\d+)?"
_NEGATIVE = re.compile(rf"\(\s?(?:({_MONEY})\s?)?({_GROUPED}|\d+(?:[.,]\d+)?)\s?({_MONEY})?(%?)\s?\)")
_PLAIN = re.compile(r"-?[\d.]+%?")
_TRIANGLE = re.compile(r"[△▲▵](?=\d)")
_PLUS = re.compile(r"^\+(?=\d[\d.]*%?$)")
_TIME = re.compile(
    r"([01]?\d|2[0-4])(?:(?::|\s?h\s?)([0-5]\d)(?::([0-5]\d))?(?:\s?h)?)?(?:\s?([ap])\.?m\.?)?", re.IGNORECASE
)
_POINTED_TIME = re.compile(r"([01]?\d|2[0-4])\.([0-5]\d)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]*\.?"
_YEAR = r"((?:1[5-9]|20)\d\d)"
_LATE = r"(1[3-9]|2\d|3[01])"  # a day that is no month
_DATES = tuple(
    (re.compile(rf"(?<![\w.,/-]){written}(?!\w|[/.]\d|-\d(?!\d{{3}}))", re.IGNORECASE), places)
    for written, places in (
        (rf"{_YEAR}\s?[-/.年]\s?(\d\d?)\s?[-/.月]\s?(\d\d?)日?", (1, 2, 3)),
        (rf"(\d\d?)\.\s?(\d\d?)\.\s?{_YEAR}", (3, 2, 1)),
        (rf"(\d\d?)(?:st|nd|rd|th)?\.?[\s-]?{_MONTH}[,;]?[\s-]?{_YEAR}", (3, 2, 1)),
        (rf"{_MONTH}\s?(\d\d?)(?:st|nd|rd|th)?[,;]?\s?{_YEAR}", (3, 1, 2)),
        (rf"(\d\d?)[/-]{_LATE}[/-]{_YEAR}", (3, 1, 2)),
        (rf"{_LATE}[/-](\d\d?)[/-]{_YEAR}", (3, 2, 1)),
        (rf"(\d\d?)[/-](\d\d?)[/-]{_YEAR}", (3, 2, 1)),
    )
)
"""Ways to write a date, and where its year, month and day stand; the last one where days come first."""
_RANGE = re.compile(r"(?<=[\d%])(?:\s?[∼~]\s?|\s-\s|\s?(?:to|bis|…|\.\.\.?)\s?)(?=\d)")
_TELLING_SIGNS = ":(△▲▵☐☒☑🗹⊠▢[+$€£¥₹年~∼…"
_TELLING_WORDS = ("usd", "eur", "gbp", "jpy", "inr", "chf", "cny", "rmb")
_TELLING = tuple(
    re.compile(pattern)
    for pattern in (
        *(rf"{sign}(?:(?<=\d{sign})|(?<=\d\s{sign}))\s?\d" for sign in ("to", "bis", "h", "-", r"\.\.")),
        r"m\b(?:(?<=\d[ap]m)|(?<=\d\s[ap]m)|(?<=\d[ap]\.m)|(?<=\d\s[ap]\.m))",
        *(rf"{begin}\d\d(?:[-/.]|(?<=[-/.\s]\d\d\d\d))" for begin in ("1[5-9]", "20")),
    )
)
"""Without any of these, in lower case, no value is written in another way.

Each pattern begins with a character that it needs: so it is found ten times faster than digits around it."""
_AROUND = r"[-−–+±~<>≤≥≈$€£¥\\\s]*"
_AFTER = r"[\s%‰*†‡$€£¥]*(?:[A-Za-z°µ]{1,3})?\$?"
_COMMA = re.compile(
    rf"{_AROUND}(?:\d+,(?:\d{{1,2}}|\d{{4,}})|\d{{1,3}}(?:[.\s'’]\d{{3}})+,\d+|\d{{1,3}}(?:\.\d{{3}}){{2,}}){_AFTER}"
)
_POINT = re.compile(
    rf"{_AROUND}(?:\d*\.(?:\d{{1,2}}|\d{{4,}})|\d{{1,3}}(?:[,\s'’]\d{{3}})+\.\d+|\d{{1,3}}(?:,\d{{3}}){{2,}}){_AFTER}"
)
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:\.\d{3})*(?:,\d+)?(?![\w.,])")
_LIST = re.compile(r"[(\[][^()\[\],]*,|,\s")
_SEVERAL_POINTS = re.compile(r"\.[^.\0]*+\.")
_LEAST = 2  # so many numbers with a comma tell; one alone may be a list of two


class WritingHabits(NamedTuple):
    """What two tables say together about how their values are written."""

    brackets_are_signs: bool
    points_are_colons: bool
    crosses_are_no: bool  # a crossed box says no beside a ticked one, and yes beside an empty one
    day_first: bool  # whether 3/4 is a day in April, as another date tells


def in_one_way(truth: Sheet, pred: Sheet) -> tuple[Sheet, Sheet]:
    """Return two tables with each value written in the one way of its kind."""
    comma = decimal_comma(truth)
    pred = with_points(pred) if decimal_comma(pred, comma) else pred
    truth = with_points(truth) if comma else truth
    sheets = truth, pred
    written = ["\n".join(map("\n".join, sheet.shown)) for sheet in sheets]
    if not any(map(may_have_other_ways, written)):
        return sheets
    # Several values are times that are written as such.
    times = [[_time(text) for text in chain(*sheet.texts)] for sheet in sheets]
    timed = [sum(map(bool, found)) > 1 for found in times]
    ticked = any("☑" in text and "☒" in text and not {*text} & {*"☐▢"} for text in written)
    # A date of days first tells of the others, unless one of months first tells the opposite.
    by_month, by_day = (any(map(_DATES[k][0].search, written)) for k in (-3, -2))
    negative, pointed = any(map(_has_negatives, sheets)), any(timed) and not all(timed)
    rewrite = partial(_value, usage=WritingHabits(negative, pointed, ticked, by_day and not by_month))
    return truth.rewritten(rewrite), pred.rewritten(rewrite)


def may_have_other_ways(written: str) -> bool:
    """Return whether a text may hold a value that can be written in another way."""
    folded = written.lower()
    return (
        any(sign in written for sign in _TELLING_SIGNS)
        or any(word in folded for word in _TELLING_WORDS)
        or any(pattern.search(folded) for pattern in _TELLING)
    )


@lru_cache(20_000)
def _value(text: str, written: str, usage: WritingHabits) -> str:
    """Return the folded text of a cell in the one way of its kind."""
    if not (usage.crosses_are_no and "☒" in written):
        boxed = _BOX.sub(lambda box: _BOXES.get(box[0]) or _BOXES[box[1].strip()], written)
        if boxed != written:
            return fold_cell(boxed)
    negative = _NEGATIVE.fullmatch(written.strip()) if usage.brackets_are_signs else None
    if negative:
        text = fold_cell(f"-{negative[1] or negative[3] or ''}{negative[2]}{negative[4]}")
    if not text or text.isalpha():
        return text
    dated = with_dates(text, day_first=usage.day_first)
    amount = _amount(_PLUS.sub("", _TRIANGLE.sub("-", dated)))
    ranged = _RANGE.sub("-", amount) if dated == text else dated
    times = [_time(end, pointed=usage.points_are_colons) for end in ranged.split("-")]
    return "-".join(times) if all(times) else ranged


def _amount(text: str) -> str:
    """Return an amount of money: its sign, its currency, its number."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return text
    currency = found[2] or found[7]
    sign = found[1] or found[3] or found[5] or ""
    return f"{sign}{_CURRENCIES.get(currency, currency)}{found[4] or found[6]}"


def _time(text: str, *, pointed: bool = False) -> str:
    """Return a time of day from 0 to 24 without a zero before its hour (`0:05` for `12:05 a.m.`), or
    nothing.
    """
    found = _TIME.fullmatch(text)
    if found is None or not (found[2] or found[4]):
        found = _POINTED_TIME.fullmatch(text) if pointed else None
        return f"{int(found[1])}:{found[2]}" if found else ""
    seconds = f":{found[3]}" if found[3] else ""
    half = (found[4] or "").lower()
    hour = int(found[1]) % 12 + (12 if half == "p" else 0) if half else int(found[1])
    return f"{hour}:{found[2] or '00'}{seconds}"


def with_dates(text: str, *, day_first: bool = False) -> str:
    """Return the text with each day that it says given year first; 3/4 is none where nothing tells which is
    which.

    >>> with_dates("05.03.2024"), with_dates("March 5, 2024"), with_dates("25/12/2024")
    ('2024-03-05', '2024-03-05', '2024-12-25')
    >>> with_dates("31 March 2024 Group"), with_dates("3/4/2024"), with_dates("3/4/2024", day_first=True)
    ('2024-03-31 Group', '3/4/2024', '2024-04-03')
    """
    for pattern, places in _DATES if day_first else _DATES[:-1]:
        for found in reversed(list(pattern.finditer(text))):
            year, month, day = (found[place] for place in places)
            number = _MONTHS.index(month[:3].lower()) + 1 if month[:1].isalpha() else int(month)
            text = f"{text[: found.start()]}{year}-{number:02}-{int(day):02}{text[found.end() :]}"
    return text


def _has_negatives(sheet: Sheet) -> bool:
    """Return whether brackets around numbers are signs, and no deviations or shares.

    They are if the numbers are amounts, or if plain ones stand beside and above or below.
    """
    found = [(r, c) for r, row in enumerate(sheet.shown) for c, t in enumerate(row) if _NEGATIVE.fullmatch(t)]
    if any(re.search(rf"{_MONEY}|\d,\d{{3}}", sheet.shown[r][c]) for r, c in found):
        return True

    plain, columns = _PLAIN.fullmatch, list(zip(*sheet.texts, strict=True))
    return any(any(map(plain, sheet.texts[r])) and any(map(plain, columns[c])) for r, c in found)


def decimal_comma(sheet: Sheet, default: bool = False) -> bool:
    """Return whether the numbers of a table have decimal commas; `default` where they do not tell."""
    # Without a comma only several points in one text can tell of one.
    written = "\0".join(map("\0".join, sheet.shown))
    if not default and "," not in written and _SEVERAL_POINTS.search(written) is None:
        return False
    telling = [text for row in sheet.shown for text in row if "," in text or text.count(".") > 1]
    if not telling and not default:
        return False
    texts = [text for row in sheet.shown for text in row if "," in text or "." in text]
    commas = sum(_COMMA.fullmatch(text) is not None for text in telling)
    points = sum(_POINT.fullmatch(text) is not None for text in texts)
    if commas == points:
        return default
    return commas > points and (commas >= _LEAST or default)


def with_points(sheet: Sheet) -> Sheet:
    """Return a table of decimal commas with decimal points, and without points between thousands."""

    def pointed(text: str, written: str) -> str:
        if not text or ("," not in written and "." not in written) or _LIST.search(written):
            return text
        return fold_cell(_NUMBER.sub(lambda found: found[0].replace(".", "").replace(",", "."), written))

    return sheet.rewritten(pointed)
