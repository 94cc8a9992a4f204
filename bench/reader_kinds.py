"""Pairs of tables of other kinds than papers have, with points given before any of them was scored.

Financial statements, timetables, questionnaires, sports, laboratory, CJK and right-to-left tables. The points
are an author's guess of what three people would give. A pair is a truth and changes made to it.

    python -m bench.reader_kinds
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import pearsonr, spearmanr

from parsemark.metrics import score

Changes = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class KindPair:
    """A truth, an extraction, and the points for it."""

    name: str
    truth: str
    pred: str
    points: float


def table(text: str) -> str:
    """Markdown of lines whose cells are parted by `;`, the first one the header."""
    lines = [[cell.strip() for cell in line.split(";")] for line in text.strip().splitlines()]
    shown = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([shown[0], "|---" * len(lines[0]) + "|", *shown[1:]])


INCOME = table("""
Item ($ million); 2023; 2022
Revenue; 12,480; 11,902
Cost of sales; (7,315); (7,020)
Gross profit; 5,165; 4,882
Operating expenses; (2,530); (2,611)
Tax; (402); (377)
Net income; 2,233; 1,894
""")
CASH = table("""
Cash flow; Q1; Q2; Q3
Operations; €1,204; €1,310; €980
Investing; (€530); (€212); €45
Financing; (€88); €120; (€640)
""")
TRAINS = table("""
Station; Train 1; Train 2; Train 3
Bern; 06:12; 07:12; 08:42
Thun; 06:31; 07:31; 09:01
Spiez; 06:42; 07:42; –
Brig; 07:20; 08:20; 09:48
""")
EVENTS = table("""
Event; Start; End
Registration; 2024-03-05; 2024-03-29
Lectures; 2024-04-08; 2024-07-12
Exams; 2024-07-22; 2024-08-02
""")
SURVEY = table("""
Question; Agree; Neutral; Disagree
The course was clear; ☒; ☐; ☐
The pace was right; ☐; ☒; ☐
I would recommend it; ☒; ☐; ☐
The room was good; ☐; ☐; ☒
""")
CONSENT = table("""
Item; Yes; No
Photos may be used; X;
Data may be kept; ; X
Contact me again; X;
""")
BASKET = table("""
Player; MIN; PTS; REB; AST
Allen; 34; 21; 7; 4
Brown; DNP; DNP; DNP; DNP
Carter; 28; 13; 9; 2
Diaz; 19; 8; 1; 6
""")
LEAGUE = table("""
Pos; Club; W; D; L; GD; Pts
1; Ajax; 20; 5; 3; +41; 65
2; PSV; 19; 6; 3; +38; 63
3; Feyenoord; 17; 4; 7; −2; 55
""")
BLOOD = table("""
Analyte; Result; Unit; Reference range
Glucose; 5.4; mmol/L; 3.9–5.6
Sodium; 141; mmol/L; 135–145
TSH; 2.1; mU/L; 0.4–4.0
CRP; <0.5; mg/L; 0.0–5.0
""")
ALLOY = table("""
Alloy; ρ (g/cm³); σ (MPa); T (°C)
Invar; 8.05; 276; 20
Monel; 8.80; 240; 25
Zamak; 6.70; 221; 30
""")
BANDS = table("""
Class; 0.0–0.6; 0.6–1.2; 1.2–2.4
Sand; 12; 30; 41
Silt; 25; 22; 19
Clay; 63; 48; 40
""")
CITIES = table("""
城市; 人口(万人); 面积(km²); 气温(℃)
北京; 2,189; 16,410; 12.3
上海; 2,487; 6,341; 17.1
广州; 1,868; 7,434; 22.4
""")
KESSAN = table("""
科目; 当期; 前期
売上高; 12,480; 11,902
営業損益; △2,530; △1,120
純利益; 402; 377
""")
ARABIC = table("""
المدينة; السكان; المساحة
القاهرة; 9,540; 3,085
الرياض; 7,676; 1,973
بغداد; 6,643; 673
""")


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A text with each change made everywhere."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def mirrored(text: str) -> str:
    """A Markdown table with its columns from right to left."""
    return "\n".join("| " + " | ".join(line.strip("| ").split(" | ")[::-1]) + " |" for line in text.splitlines() if "---" not in line).replace("\n", "\n|---|---|---|\n", 1)  # fmt: skip  # noqa: E501


def rows_without(text: str, *names: str) -> str:
    """A text without the lines that hold some names."""
    return "\n".join(line for line in text.splitlines() if not any(name in line for name in names))


LIST_OF_ANSWERS = """1. The course was clear: Agree
2. The pace was right: Neutral
3. I would recommend it: Agree
4. The room was good: Disagree"""


def pairs() -> Iterator[KindPair]:
    """All pairs."""
    minus = [("(7,315)", "−7,315"), ("(7,020)", "−7,020"), ("(2,530)", "−2,530"), ("(2,611)", "−2,611"),
             ("(402)", "−402"), ("(377)", "−377")]  # fmt: skip
    yes = [("☒", "X"), ("☐", "")]
    made: list[tuple[str, str, str, float]] = [
        ("income minus signs", INCOME, changed(INCOME, *minus), 10),
        ("income signs lost", INCOME, changed(INCOME, ("(", ""), (")", ""), ("Item $ million", "Item ($ million)")), 3.5),
        ("income one sign lost", INCOME, changed(INCOME, ("(2,530)", "2,530")), 6),
        ("income digit", INCOME, changed(INCOME, ("12,480", "12,430")), 6),
        ("income minus and digit", INCOME, changed(changed(INCOME, *minus), ("−2,530", "−2,580")), 6),
        ("income spaces for thousands", INCOME, changed(INCOME, (",", " ")), 9.5),
        ("income unit lost", INCOME, changed(INCOME, (" ($ million)", "")), 8),
        ("income row lost", INCOME, rows_without(INCOME, "Gross"), 4.5),
        ("income years exchanged", INCOME, changed(INCOME, ("2023 | 2022", "2022 | 2023")), 1.5),
        ("cash minus", CASH, changed(CASH, ("(€530)", "-€530"), ("(€212)", "-€212"), ("(€88)", "-€88"), ("(€640)", "-€640")), 10),
        ("cash currency behind", CASH, changed(CASH, ("(€530)", "(530 €)"), ("(€212)", "(212 €)"), ("(€88)", "(88 €)"), ("(€640)", "(640 €)")), 9.5),
        ("cash currency lost", CASH, changed(CASH, ("€", "")), 7.5),
        ("cash signs lost", CASH, changed(CASH, ("(", ""), (")", "")), 4),
        ("cash dollars", CASH, changed(CASH, ("€", "$")), 5),
        ("trains points", TRAINS, changed(TRAINS, (":", ".")), 9.5),
        ("trains h", TRAINS, changed(TRAINS, (":", "h")), 9.5),
        ("trains no zeros", TRAINS, changed(TRAINS, ("| 0", "| ")), 9.5),
        ("trains colons lost", TRAINS, changed(TRAINS, (":", "")), 7),
        ("trains one time", TRAINS, changed(TRAINS, ("07:31", "07:37")), 6),
        ("trains columns exchanged", TRAINS, changed(TRAINS, ("Train 1 | Train 2", "Train 2 | Train 1")), 2),
        ("trains dash shift", TRAINS, changed(TRAINS, ("07:42 | –", "– | 07:42")), 5.5),
        ("trains empty for dash", TRAINS, changed(TRAINS, ("–", "")), 10),
        ("events german dates", EVENTS, changed(EVENTS, ("2024-03-05", "05.03.2024"), ("2024-03-29", "29.03.2024"), ("2024-04-08", "08.04.2024"), ("2024-07-12", "12.07.2024"), ("2024-07-22", "22.07.2024"), ("2024-08-02", "02.08.2024")), 9),
        ("events words", EVENTS, changed(EVENTS, ("2024-03-05", "March 5, 2024"), ("2024-03-29", "March 29, 2024"), ("2024-04-08", "April 8, 2024"), ("2024-07-12", "July 12, 2024"), ("2024-07-22", "July 22, 2024"), ("2024-08-02", "Aug 2, 2024")), 9),
        ("events slashes", EVENTS, changed(EVENTS, ("-", "/"), ("///", "---")), 9.5),
        ("events one day", EVENTS, changed(EVENTS, ("2024-07-12", "2024-07-21")), 5.5),
        ("events spaces", EVENTS, changed(EVENTS, ("2024-", "2024 -"), ("-0", "- 0")), 9),
        ("survey x and empty", SURVEY, changed(SURVEY, *yes), 9.5),
        ("survey check", SURVEY, changed(SURVEY, ("☒", "☑")), 10),
        ("survey brackets", SURVEY, changed(SURVEY, ("☒", "[x]"), ("☐", "[ ]")), 10),
        ("survey all empty boxes", SURVEY, changed(SURVEY, ("☒", "☐")), 1),
        ("survey all checked", SURVEY, changed(SURVEY, ("☐", "☒")), 1),
        ("survey marks lost", SURVEY, changed(SURVEY, ("☒", ""), ("☐", "")), 1),
        ("survey inverted", SURVEY, changed(SURVEY, ("☒", "#"), ("☐", "☒"), ("#", "☐")), 1),
        ("survey one answer", SURVEY, changed(SURVEY, ("right | ☐ | ☒ | ☐", "right | ☐ | ☐ | ☒")), 5.5),
        ("survey list", SURVEY, LIST_OF_ANSWERS, 8.5),
        ("survey list one wrong", SURVEY, LIST_OF_ANSWERS.replace("Neutral", "Agree"), 5.5),
        ("survey as answers", SURVEY, table("Question; Answer\nThe course was clear; Agree\nThe pace was right; Neutral\nI would recommend it; Agree\nThe room was good; Disagree"), 9),
        ("survey yes no", SURVEY, changed(SURVEY, ("☒", "Yes"), ("☐", "No")), 9.5),
        ("consent boxes", CONSENT, changed(CONSENT, ("|  |", "| ☐ |"), ("X", "☒")), 9.5),
        ("consent marks", CONSENT, changed(CONSENT, ("X", "✓")), 10),
        ("consent lost", CONSENT, changed(CONSENT, ("X", "")), 1),
        ("basket once", BASKET, changed(BASKET, ("DNP | DNP | DNP | DNP", "DNP |  |  | ")), 9.5),
        ("basket empty", BASKET, changed(BASKET, ("DNP", "")), 7.5),
        ("basket words", BASKET, changed(BASKET, ("DNP | DNP | DNP | DNP", "Did not play |  |  | ")), 9),
        ("basket row lost", BASKET, rows_without(BASKET, "Brown"), 6),
        ("basket player lost", BASKET, rows_without(BASKET, "Carter"), 4),
        ("league plus lost", LEAGUE, changed(LEAGUE, ("+", "")), 9.5),
        ("league minus lost", LEAGUE, changed(LEAGUE, ("−2", "2")), 6),
        ("league transposed rows", LEAGUE, changed(LEAGUE, ("PSV", "#"), ("Ajax", "PSV"), ("#", "Ajax")), 2.5),
        ("blood ranges to", BLOOD, changed(BLOOD, ("–", " to ")), 10),
        ("blood ranges spaced", BLOOD, changed(BLOOD, ("–", " ")), 6.5),
        ("blood ranges glued", BLOOD, changed(BLOOD, ("–", "")), 4.5),
        ("blood less lost", BLOOD, changed(BLOOD, ("<0.5", "0.5")), 6.5),
        ("blood units other", BLOOD, changed(BLOOD, ("mmol/L", "mg/L")), 4.5),
        ("alloy ascii", ALLOY, changed(ALLOY, ("ρ", "p"), ("σ", "o"), ("°", "")), 7.5),
        ("alloy units lost", ALLOY, changed(ALLOY, (" (g/cm³)", ""), (" (MPa)", ""), (" (°C)", "")), 6.5),
        ("alloy one unit lost", ALLOY, changed(ALLOY, (" (MPa)", "")), 8.5),
        ("alloy spelled", ALLOY, changed(ALLOY, ("ρ", "rho"), ("σ", "sigma")), 9.5),
        ("bands to", BANDS, changed(BANDS, ("–", " to ")), 10),
        ("bands spaced", BANDS, changed(BANDS, ("–", " ")), 7),
        ("bands exchanged", BANDS, changed(BANDS, ("0.0–0.6 | 0.6–1.2", "0.6–1.2 | 0.0–0.6")), 2),
        ("cities full width", CITIES, changed(CITIES, ("(", "（"), (")", "）"), ("2,189", "２，１８９")), 10),
        ("cities degree", CITIES, changed(CITIES, ("℃", "°C")), 10),
        ("cities spaces", CITIES, changed(CITIES, ("北京", "北 京"), ("上海", "上 海"), ("人口", "人 口")), 10),
        ("cities names exchanged", CITIES, changed(CITIES, ("北京", "#"), ("上海", "北京"), ("#", "上海")), 2),
        ("cities units lost", CITIES, changed(CITIES, ("(万人)", ""), ("(km²)", ""), ("(℃)", "")), 6.5),
        ("kessan minus", KESSAN, changed(KESSAN, ("△", "-")), 10),
        ("kessan black", KESSAN, changed(KESSAN, ("△", "▲")), 10),
        ("kessan lost", KESSAN, changed(KESSAN, ("△", "")), 5),
        ("arabic mirrored", ARABIC, mirrored(ARABIC), 9.5),
        ("arabic digits", ARABIC, changed(ARABIC, ("9,540", "٩٬٥٤٠"), ("673", "٦٧٣")), 10),
        ("arabic wrong", ARABIC, changed(ARABIC, ("7,676", "7,766")), 5.5),
    ]  # fmt: skip
    for name, truth, pred, points in made:
        yield KindPair(name, truth, pred, points)


def scored() -> list[tuple[KindPair, float]]:
    """Each pair with what `reader` gives."""
    return [
        (pair, score(pair.truth, pair.pred, metrics=["reader"])["reader"].value or 0.0) for pair in pairs()
    ]


def main() -> None:
    found = scored()
    for pair, value in sorted(found, key=lambda item: -abs(item[1] - item[0].points)):
        print(f"{pair.name:>28} {pair.points:5.1f} {value:5.1f} {value - pair.points:+5.1f}")
    points, values = np.array([p.points for p, _ in found]), np.array([v for _, v in found])
    print(f"{len(found)} pairs, Pearson {pearsonr(points, values)[0]:.3f}, Spearman {spearmanr(points, values)[0]:.3f}")


if __name__ == "__main__":
    main()
