"""Content in two notations at once: the LaTeX that is set, and the text that is the truth."""

from __future__ import annotations

from dataclasses import dataclass

_SPECIAL = str.maketrans(
    {
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "−": "$-$",
        "±": r"$\pm$",
        "×": r"$\times$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "<": "$<$",
        ">": "$>$",
        "°": r"\textdegree{}",
        "µ": r"\textmu{}",
        "€": r"\texteuro{}",
        "–": "--",
        "—": "---",
        "…": r"\dots{}",
        "’": "'",
        "“": "``",
        "”": "''",
        "Δ": r"$\Delta$",
        "α": r"$\alpha$",
        "β": r"$\beta$",
        "γ": r"$\gamma$",
        "δ": r"$\delta$",
        "λ": r"$\lambda$",
        "μ": r"$\mu$",
        "σ": r"$\sigma$",
        "ρ": r"$\rho$",
        "χ": r"$\chi$",
        "✓": r"\checkmark{}",
        "†": r"\textdagger{}",
        "•": r"\textbullet{}",
        "·": r"$\cdot$",
        "\u202f": r"\,",
        "\xa0": "~",
    }
)
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))


@dataclass(frozen=True, slots=True)
class Piece:
    """A bit of content."""

    latex: str
    text: str

    def __add__(self, other: Piece) -> Piece:
        return Piece(self.latex + other.latex, self.text + other.text)

    def bold(self) -> Piece:
        """The same in bold."""
        return Piece(rf"\textbf{{{self.latex}}}", self.text)

    def italic(self) -> Piece:
        """The same in italics."""
        return Piece(rf"\textit{{{self.latex}}}", self.text)

    @property
    def has_math(self) -> bool:
        """Whether it has a formula."""
        return "$" in self.latex.replace(r"\$", "")


EMPTY = Piece("", "")


def plain(text: str) -> Piece:
    """Text as it is; symbols and Unicode scripts (10⁻³, SiO₂) become LaTeX."""
    return Piece(to_latex(text), text)


def raised(mark: str) -> Piece:
    """A mark set high: stars, daggers, letters of notes. It follows what it marks without a blank."""
    latex = mark.replace("*", r"{*}")
    return Piece(rf"$^{{\mathrm{{{latex}}}}}$" if mark.isalpha() else rf"$^{{{latex}}}$", f"^{{{mark}}}")


def formula(latex: str) -> Piece:
    """A formula inside text."""
    return Piece(f"${latex}$", f"${latex}$")


def to_latex(text: str) -> str:
    """Escape text for LaTeX."""
    out: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        for scripts, command in ((_RAISED, "^"), (_LOWERED, "_")):
            if character in scripts:
                end = position
                while end < len(text) and text[end] in scripts:
                    end += 1
                out.append(f"${command}{{{''.join(scripts[c] for c in text[position:end])}}}$")
                position = end
                break
        else:
            out.append(character.translate(_SPECIAL))
            position += 1
    return "".join(out)
