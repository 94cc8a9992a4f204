"""What the tables are about. Each kind gives a draft for a wanted number of rows and columns."""

import random
from collections.abc import Callable, Sequence

from parsemark_makers.synthetic.language import number, sentences, vocabulary
from parsemark_makers.synthetic.pieces import EMPTY, Piece, plain, plains, raised
from parsemark_makers.synthetic.table_draft import DraftRow, RowGroup, TableDraft, one_level

Kind = Callable[[random.Random, str, int, int], TableDraft]


def results(rng: random.Random, language: str, rows: int, cols: int) -> TableDraft:
    """Return a table of methods against measures, which several data sets can share; the best value in
    bold.
    """
    words = vocabulary(language).lists
    sets = cols // 2 if cols >= 5 and rng.random() < 0.6 else 1
    measures = _labels(rng, words["metrics"], 2 if sets > 1 else max(1, cols - 1))
    leaves = sets * len(measures)
    levels = one_level(*measures * sets)
    if sets > 1:
        names = plains(*_labels(rng, words["datasets"], sets))
        levels = (tuple(RowGroup(name, len(measures)) for name in names), *levels)
    decimals, spread = rng.choice([1, 2, 3]), rng.random() < 0.35
    grid = [[rng.uniform(40, 99) / (1 if decimals == 1 else 100) for _ in range(leaves)] for _ in range(rows)]
    best = [max(grid, key=lambda r, c=col: r[c])[col] for col in range(leaves)]  # type: ignore[misc] # bound early
    body = []
    for label, values in zip(_labels(rng, words["methods"], rows), grid, strict=True):
        pieces = [plain(label)]
        for col, value in enumerate(values):
            shown = number(value, decimals, language)
            if spread:
                shown += f" ± {number(rng.uniform(0.1, 2) / 10 ** (decimals - 1), decimals, language)}"
            pieces.append(plain(shown).bold() if value == best[col] else plain(shown))
        body.append(DraftRow(tuple(pieces)))
    stub = EMPTY if rng.random() < 0.3 else plain(rng.choice(words["method_titles"]))
    return TableDraft("results", (stub,), levels, tuple(body), ("l", *("c" * leaves)))


def ablation(rng: random.Random, language: str, rows: int, cols: int) -> TableDraft:
    """Return a table of parts that are there (✓) or not, and their effect on the score."""
    words = vocabulary(language).lists
    parts = rng.sample(words["parts"], k=max(1, min(len(words["parts"]), cols - 2)))
    body = []
    for index in range(rows):
        marks = ["✓" if index == 0 or rng.random() < 0.6 else "" for _ in parts]
        change = rng.uniform(-9, 0.4) if index else 0.0
        shown = number(90 + change, 1, language), number(change, 1, language) if index else "–"
        body.append(DraftRow(plains(*marks, *shown)))
    head = one_level(words["metrics"][0], "Δ")
    return TableDraft("ablation", plains(*parts), head, tuple(body), (*("c" * len(parts)), "r", "r"))


def statistics(rng: random.Random, language: str, rows: int, cols: int) -> TableDraft:
    """Return a regression: estimates with stars, errors in parentheses, p values, confidence intervals."""
    words = vocabulary(language).lists
    models = max(1, min(6, cols - 1))
    if models <= 2:
        return _regression_detail(rng, language, rows)
    body = []
    for label in _labels(rng, words["variables"], rows):
        pieces = [plain(label)]
        for _ in range(models):
            if rng.random() < 0.15:
                pieces.append(EMPTY)
                continue
            stars = rng.choice(["", "", "*", "**", "***"])
            estimate = plain(number(rng.gauss(0, 1.5), 3, language))
            pieces.append(estimate + raised(stars) if stars else estimate)
        body.append(DraftRow(tuple(pieces)))
    observations = [number(rng.randint(200, 9000), 0, language) for _ in range(models)]
    fits = [number(rng.uniform(0.1, 0.9), 2, language) for _ in range(models)]
    body += [DraftRow(plains("N", *observations), "total"), DraftRow(plains("R²", *fits))]
    levels = one_level(*(f"({index + 1})" for index in range(models)))
    limits = (("*", 0.1, 1), ("**", 0.05, 2), ("***", 0.01, 2))
    marks = (f"{stars} p < {number(p, decimals, language)}" for stars, p, decimals in limits)
    note = plain(vocabulary(language).list_mark.join(marks))
    return TableDraft("statistics", (EMPTY,), levels, tuple(body), ("l", *("c" * models)), notes=(note,))


def _regression_detail(rng: random.Random, language: str, rows: int) -> TableDraft:
    words = vocabulary(language).lists
    body = []
    for label in _labels(rng, words["variables"], rows):
        estimate, error = rng.gauss(0, 2), rng.uniform(0.05, 0.9)
        p = rng.choice([rng.uniform(0.001, 0.9), rng.uniform(0.001, 0.05), 0.0])
        low, high = estimate - 1.96 * error, estimate + 1.96 * error
        shown_p = number(p, 3, language) if p else f"< {number(0.001, 3, language)}"
        interval = f"[{number(low, 2, language)}{vocabulary(language).list_mark}{number(high, 2, language)}]"
        texts = [number(estimate, 3, language), f"({number(error, 3, language)})", shown_p, interval]
        body.append(DraftRow(plains(label, *texts)))
    levels = one_level(*(words["statistics"][i] for i in (0, 1, 3, 4)))
    stub = EMPTY if rng.random() < 0.5 else plain(rng.choice(words["variable_titles"]))
    return TableDraft("statistics", (stub,), levels, tuple(body), ("l", "r", "r", "r", "c"))


def inventory(rng: random.Random, language: str, rows: int, cols: int) -> TableDraft:
    """Return a table of articles with codes, quantities, prices and a total."""
    words = vocabulary(language).lists
    names = words["inventory"]
    body, total = [], 0.0
    for label in _labels(rng, words["items"], max(1, rows - 1)):
        quantity, price = rng.randint(1, 900), round(rng.uniform(0.2, 250), 2)
        total += quantity * price
        code = f"{rng.choice('ABCDEF')}-{rng.randint(100, 999)}"
        place = f"{rng.choice('ABCD')}{rng.randint(1, 30)}"
        sums = _sale(quantity, price, language)
        body.append(plains(code, label, *sums, place, rng.choice(words["suppliers"])))
    count = max(3, min(7, cols))
    keep = sorted({1, 4, *(rng.sample(range(7), k=count) if count < 7 else range(7))})
    kept = [DraftRow(tuple(row[i] for i in keep)) for row in body]
    last = {1: plain(vocabulary(language).words["total"]).bold(), 4: plain(number(total, 2, language)).bold()}
    kept.append(DraftRow(tuple(last.get(i, EMPTY) for i in keep), "total"))
    alignments = tuple("llrrrcl"[i] for i in keep)
    levels = one_level(*(names[i] for i in keep[1:]))
    return TableDraft("inventory", (plain(names[keep[0]]),), levels, tuple(kept), alignments)


MORNING, LESSONS = 8 * 60, 12
"""When timetables begin, in minutes, and how many lessons they have before another week begins."""


def schedule(rng: random.Random, language: str, rows: int, cols: int) -> TableDraft:
    """Return a timetable: days against hours, with free slots and a break that spans all days."""
    words = vocabulary(language).lists
    days = words["days"][: max(2, min(5, cols - 1))]
    step = rng.choice([45, 60])
    body = []
    pause = rng.randrange(1, rows) if rows > 3 else -1
    for index in range(rows):
        if index == pause:
            body.append(DraftRow((plain(words["schedule"][rng.choice([1, 2])]).italic(),), "section"))
            continue
        week, place = divmod(index, LESSONS)
        hours = (_clock(MORNING + step * hour, language) for hour in (place, place + 1))
        label = f"({week + 1}) " * (rows > LESSONS) + "–".join(hours)
        cells = []
        for _ in days:
            lesson = rng.choice(words["courses"]) if rng.random() < 0.85 else ""
            in_room = lesson and rng.random() < 0.2
            cells.append(f"{lesson}, {rng.choice(words['rooms'])}" if in_room else lesson)
        body.append(DraftRow(plains(label, *cells)))
    stub = plains(words["schedule"][0])
    return TableDraft("schedule", stub, one_level(*days), tuple(body), ("l",) * (len(days) + 1))


def _clock(minutes: int, language: str) -> str:
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02d}" if language == "french" else f"{hours}:{rest:02d}"


def finance(rng: random.Random, language: str, rows: int, cols: int) -> TableDraft:
    """Return a statement: sections, amounts by year with losses in parentheses, totals."""
    words = vocabulary(language).lists
    years = [2024 - i for i in range(max(2, min(8, cols - 1)))]
    with_change = len(years) > 2 and rng.random() < 0.5
    if with_change:
        years.pop()
    body: list[DraftRow] = []
    names = zip(("assets", "liabilities", "equity"), words["finance"][:3], strict=True)
    sections = list(names)[: 1 if rows < 6 else 2 if rows < 12 else 3]
    per_section = max(1, (rows - 2 * len(sections)) // len(sections))
    for theme, title in sections:
        body.append(DraftRow((plain(title).bold(),), "section"))
        amounts = []
        for label in _labels(rng, words[theme], per_section):
            amounts.append([0 if rng.random() < 0.05 else rng.randint(-400, 99_000) for _ in years])
            body.append(DraftRow(plains(label, *_amounts(amounts[-1], language, with_change))))
        sums = _amounts([sum(column) for column in zip(*amounts, strict=True)], language, with_change)
        total = plains(vocabulary(language).words["total"], *sums)
        body.append(DraftRow(tuple(piece.bold() for piece in total), "total"))
    heads = [*map(str, years), *([f"{words['finance'][3]} (%)"] if with_change else [])]
    stub = plain(words["finance"][4]) if rng.random() < 0.6 else EMPTY
    return TableDraft("finance", (stub,), one_level(*heads), tuple(body), ("l", *("r" * len(heads))))


def _amounts(amounts: Sequence[int], language: str, with_change: bool) -> list[str]:
    """Return a table of amounts by year, the latest first; losses in parentheses, nothing as a dash; the
    last change.
    """
    shown = [number(abs(amount), 0, language) if amount else "–" for amount in amounts]
    texts = [f"({text})" if amount < 0 else text for text, amount in zip(shown, amounts, strict=True)]
    if with_change:
        now, before = amounts[:2]
        change = 100 * (now - before) / abs(before) if before else 0.0
        texts.append(("+" if change > 0 else "") + number(change, 1, language) if before else "–")
    return texts


def geology(rng: random.Random, language: str, rows: int, cols: int) -> TableDraft:
    """Return samples by site with depth, density, position, age ± error, and oxides in weight per cent."""
    words = vocabulary(language).lists
    names = words["geology"]
    oxides = ["SiO₂", "Al₂O₃", "Fe₂O₃", "MgO", "CaO", "Na₂O", "K₂O", "TiO₂"][: max(0, min(8, cols - 6))]
    fields = rng.sample(range(5), k=max(1, min(5, cols - 2 - len(oxides))))
    units = ["(m)", "(g cm⁻³)", "(%)", "(° N)", "(Ma)"]
    leaf = [f"{names[2 + f]} {units[f]}" for f in sorted(fields)]
    body = []
    for index in range(rows):
        values = [_rock_value(rng, f, language) for f in sorted(fields)]
        parts = [number(rng.uniform(0.1, 60), 2, language) for _ in oxides]
        label = f"{rng.choice('ABCDG')}{rng.randint(1, 9)}-{index + 1:02d}"
        body.append(DraftRow(plains(label, rng.choice(words["rocks"]), *values, *parts)))
    levels = one_level(*leaf, *oxides)
    if len(oxides) > 1:
        top = (*(RowGroup(EMPTY) for _ in leaf), RowGroup(plain(f"{names[7]} (wt%)"), len(oxides)))
        levels = (top, *levels)
    alignments = ("l", "l", *("r" * len(levels[-1])))
    return TableDraft("geology", plains(*names[:2]), levels, tuple(body), alignments)


def _rock_value(rng: random.Random, field: int, language: str) -> str:
    if field == 4:
        return f"{number(rng.uniform(1, 540), 1, language)} ± {number(rng.uniform(0.1, 9), 1, language)}"
    low, high, decimals = [(0.5, 900.0, 1), (2.1, 3.3, 2), (0.2, 35.0, 1), (-60.0, 70.0, 4)][field]
    return number(rng.uniform(low, high), decimals, language)


def chemistry(rng: random.Random, language: str, rows: int, cols: int) -> TableDraft:
    """Return compounds with formulas, masses, melting points, powers of ten and yields."""
    words = vocabulary(language).lists
    names = words["chemistry"]
    formulas = "H₂O NaCl H₂SO₄ NH₃ CH₄ C₂H₅OH CaCO₃ CO₂ C₆H₁₂O₆ HNO₃ C₆H₆ Fe₂O₃"
    powers = ["10⁻³", "10⁻²", "10⁻⁵", "10²", "10³", "10⁻⁹"]
    columns: list[tuple[str, Callable[[], str]]] = [
        (f"{names[2]} (g mol⁻¹)", lambda: number(rng.uniform(16, 260), 2, language)),
        (f"{names[3]} (°C)", lambda: number(rng.uniform(-180, 1500), 1, language)),
        (
            f"{names[4]} (mol L⁻¹)",
            lambda: f"{number(rng.uniform(1, 9.9), 1, language)} × {rng.choice(powers)}",
        ),
        (f"{names[5]} (%)", lambda: number(rng.uniform(20, 99), 0, language)),
        ("pH", lambda: number(rng.uniform(1, 13), 1, language)),
        ("λ (nm)", lambda: number(rng.uniform(200, 800), 0, language)),
        ("α (°)", lambda: number(rng.uniform(-90, 90), 1, language)),
    ]
    chosen = sorted(rng.sample(range(len(columns)), k=max(1, min(len(columns), cols - 2))))
    pairs = list(zip(words["compounds"], formulas.split(), strict=True))
    body = []
    for index in range(rows):
        name, chemical = pairs[index % len(pairs)]
        name = name if index < len(pairs) else f"{name} {'IVX'[index // len(pairs) % 3]}"
        values = [columns[i][1]() if rng.random() > 0.06 else "" for i in chosen]
        body.append(DraftRow(plains(name, chemical, *values)))
    levels = one_level(*(columns[i][0] for i in chosen))
    return TableDraft("chemistry", plains(*names[:2]), levels, tuple(body), ("l", "l", *("r" * len(chosen))))


def glossary(rng: random.Random, language: str, rows: int, cols: int) -> TableDraft:
    """Return terms with descriptions that run over several lines."""
    words = vocabulary(language).lists
    names = words["glossary"]
    wide = max(1, min(2, cols - 1))
    joint = " " if vocabulary(language).spaced else ""
    body = []
    for label in _labels(rng, words["terms"], rows):
        texts = [joint.join(sentences(rng, language, rng.choice([1, 1, 2]))) for _ in range(wide)]
        body.append(DraftRow(plains(label, *texts)))
    levels = one_level(*(names[1], names[3])[:wide])
    return TableDraft("glossary", plains(names[0]), levels, tuple(body), ("l", *(["p{4cm}"] * wide)))


VAT = 0.2


def invoice(rng: random.Random, language: str, rows: int) -> TableDraft:
    """Return positions with quantities and prices, a net sum, the tax and the amount to pay; the sums are
    true.
    """
    words = vocabulary(language)
    heads, foot = words.lists["invoice"], words.lists["invoice_foot"]
    body, net = [], 0.0
    for position, item in enumerate(rng.sample(words.lists["items"], k=min(rows, len(words.lists["items"])))):
        quantity, price = rng.choice([1, 2, 5, 10, 12, 25, 100]), round(rng.uniform(0.4, 380), 2)
        net += round(quantity * price, 2)
        label = f"{item}, {rng.choice(words.lists['variants'])}" if rng.random() < 0.4 else item
        body.append(DraftRow(plains(str(position + 1), label, *_sale(quantity, price, language))))
    tax = round(net * VAT, 2)
    for label, amount in zip(foot, (net, tax, net + tax), strict=True):
        pieces = plains("", label, "", "", number(amount, 2, language))
        is_last = amount == net + tax
        body.append(DraftRow(tuple(p.bold() for p in pieces) if is_last else pieces, "total"))
    return TableDraft("invoice", plains(heads[0]), one_level(*heads[1:]), tuple(body), tuple("rlrrr"))


def _sale(quantity: int, price: float, language: str) -> tuple[str, ...]:
    """Return how many, what one costs, and what all do."""
    sums = (number(amount, 2, language) for amount in (price, quantity * price))
    return (number(quantity, 0, language), *sums)


def laboratory(rng: random.Random, language: str, rows: int) -> TableDraft:
    """Return tests by section with result, unit, reference range and a flag where the result lies outside."""
    lists = vocabulary(language).lists
    body: list[DraftRow] = []
    sections: dict[str, list[list[str]]] = {}
    for test in lists["laboratory_tests"]:
        title, *facts = test.split("|")
        sections.setdefault(title, []).append(facts)
    for title, found in sections.items():
        if len(body) >= rows:
            break
        body.append(DraftRow((plain(title).bold(),), "section"))
        for name, unit, low, high in rng.sample(found, k=rng.randint(2, len(found))):
            decimals = max(len(low.partition(".")[2]), len(high.partition(".")[2]))
            low_value, high_value = float(low), float(high)
            width = high_value - low_value
            value = rng.uniform(low_value - 0.25 * width, high_value + 0.25 * width)
            value = round(max(value, low_value / 2), decimals)
            flag = "↓" if value < low_value else "↑" if value > high_value else ""
            shown, least, most = (number(v, decimals, language) for v in (value, low_value, high_value))
            said = plain(shown).bold() if flag else plain(shown)
            body.append(DraftRow((plain(name), said, *plains(unit, f"{least} – {most}", flag))))
    heads = lists["laboratory"]
    return TableDraft("laboratory", plains(heads[0]), one_level(*heads[1:]), tuple(body), tuple("lrlcc"))


def form(rng: random.Random, language: str, rows: int) -> TableDraft:
    """Return labels and what was filled in beside them, in two pairs of columns under a common heading
    each.
    """
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
    top = tuple(RowGroup(plain(head).bold(), 2) for head in heads)
    return TableDraft("form", (), (top,), tuple(body), tuple("llll"))


def _filled(rng: random.Random, language: str, sort: str) -> Piece:
    """Return an example of handwriting for a field of this sort."""
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


_NEEDED_LISTS: dict[Kind, str] = {
    results: "methods datasets metrics method_titles",
    ablation: "parts metrics",
    statistics: "variables statistics variable_titles",
    inventory: "items inventory suppliers",
    schedule: "days courses rooms schedule",
    finance: "assets liabilities equity finance",
    geology: "rocks geology",
    chemistry: "compounds chemistry",
    glossary: "terms glossary",
}
KINDS = {kind.__name__: kind for kind in _NEEDED_LISTS}


def kinds_in(language: str) -> list[str]:
    """Return the kinds for which the language has all words."""
    lists = vocabulary(language).lists.keys()
    return sorted(name for name, kind in KINDS.items() if lists >= set(_NEEDED_LISTS[kind].split()))


def _labels(rng: random.Random, names: Sequence[str], count: int) -> list[str]:
    """Return distinct labels; numbered when there are not enough words."""
    shuffled = rng.sample(names, k=len(names))
    return [
        shuffled[i % len(names)] + (f" {i // len(names) + 1}" if i >= len(names) else "")
        for i in range(count)
    ]
