"""Tables of offices: invoices, forms, laboratory reports. Each needs lists of its own in the vocabulary."""

import random

from parsemark.corpora.synthetic.language import number, vocabulary
from parsemark.corpora.synthetic.pieces import EMPTY, Piece, plain
from parsemark.corpora.synthetic.table_draft import DraftRow, RowGroup, TableDraft, one_level

VAT = 0.2


def invoice(rng: random.Random, language: str, rows: int) -> TableDraft:
    """Positions with quantities and prices, a net sum, the tax and the amount to pay; the sums are true."""
    words = vocabulary(language)
    heads, foot = words.lists["invoice"], words.lists["invoice_foot"]
    body, net = [], 0.0
    for position, item in enumerate(rng.sample(words.lists["items"], k=min(rows, len(words.lists["items"])))):
        quantity, price = rng.choice([1, 2, 5, 10, 12, 25, 100]), round(rng.uniform(0.4, 380), 2)
        net += round(quantity * price, 2)
        texts = [
            str(position + 1),
            f"{item}, {rng.choice(words.lists['variants'])}" if rng.random() < 0.4 else item,
            number(quantity, 0, language),
            number(price, 2, language),
            number(quantity * price, 2, language),
        ]
        body.append(DraftRow(tuple(plain(text) for text in texts)))
    tax = round(net * VAT, 2)
    for label, amount in zip(foot, (net, tax, net + tax), strict=True):
        last = amount == net + tax
        pieces = (EMPTY, plain(label), EMPTY, EMPTY, plain(number(amount, 2, language)))
        body.append(DraftRow(tuple(p.bold() for p in pieces) if last else pieces, "total"))
    levels = one_level([plain(text) for text in heads[1:]])
    return TableDraft("invoice", (plain(heads[0]),), levels, tuple(body), ("r", "l", "r", "r", "r"))


def laboratory(rng: random.Random, language: str, rows: int) -> TableDraft:
    """Tests by section with result, unit, reference range and a flag where the result lies outside."""
    lists = vocabulary(language).lists
    body: list[DraftRow] = []
    tests = [test.split("|") for test in lists["laboratory_tests"]]
    sections: dict[str, list[list[str]]] = {}
    for test in tests:
        sections.setdefault(test[0], []).append(test)
    for title, found in sections.items():
        if len(body) >= rows:
            break
        body.append(DraftRow((plain(title).bold(),), "section"))
        for _, name, unit, low, high in rng.sample(found, k=rng.randint(2, len(found))):
            decimals = max(len(low.partition(".")[2]), len(high.partition(".")[2]))
            low_value, high_value = float(low), float(high)
            width = high_value - low_value
            value = rng.uniform(low_value - 0.25 * width, high_value + 0.25 * width)
            value = round(max(value, low_value / 2), decimals)
            flag = "↓" if value < low_value else "↑" if value > high_value else ""
            shown = plain(number(value, decimals, language))
            between = f"{number(low_value, decimals, language)} – {number(high_value, decimals, language)}"
            cells = (plain(name), shown.bold() if flag else shown, plain(unit), plain(between), plain(flag))
            body.append(DraftRow(cells))
    heads = lists["laboratory"]
    levels = one_level([plain(text) for text in heads[1:]])
    return TableDraft("laboratory", (plain(heads[0]),), levels, tuple(body), ("l", "r", "l", "c", "c"))


def form(rng: random.Random, language: str, rows: int) -> TableDraft:
    """Labels and what was filled in beside them, in two pairs of columns under a common heading each."""
    words = vocabulary(language)
    fields = rng.sample(words.lists["form"], k=min(2 * rows, len(words.lists["form"])) // 2 * 2)
    heads = rng.sample(words.lists["form_parts"], k=2)
    body = []
    for pair in zip(fields[::2], fields[1::2], strict=True):
        pieces: list[Piece] = []
        for entry in pair:
            label, _, sort = entry.partition("|")
            pieces += [plain(label), _filled(rng, language, sort) if rng.random() < 0.9 else EMPTY]
        body.append(DraftRow(tuple(pieces)))
    top = (RowGroup(plain(heads[0]).bold(), 2), RowGroup(plain(heads[1]).bold(), 2))
    return TableDraft("form", (), (top,), tuple(body), ("l", "l", "l", "l"))


def _filled(rng: random.Random, language: str, sort: str) -> Piece:
    """What someone writes into a field of this sort."""
    lists = vocabulary(language).lists
    values = {
        "person": rng.choice(vocabulary(language).people),
        "date": f"{rng.randint(1, 28):02d}.{rng.randint(1, 12):02d}.{rng.randint(1960, 2024)}",
        "number": str(rng.randint(100_000, 999_999)),
        "count": str(rng.randint(0, 5)),
        "town": rng.choice(lists["towns"]),
        "company": rng.choice(lists["suppliers"]),
        "amount": number(rng.uniform(100, 9000), 2, language),
        "tick": rng.choice("☒☐"),
    }
    return plain(values[sort])
