"""BLEU of a corpus of segments, as Hugging Face's `bleu` computes it (Papineni et al. 2002, no smoothing)."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from parsemark.metrics.base import Metadata, Metric

ORDER = 4
_PUNCTUATION = re.compile(r"([{-~\[-` -&(-+:-@/])")
_AFTER_LETTER = re.compile(r"([^0-9])([.,])")
_BEFORE_LETTER = re.compile(r"([.,])([^0-9])")
_DASH = re.compile(r"([0-9])(-)")


class Bleu(Metric[str]):
    """BLEU-4 of a text, the truth as the only reference; tokens as mteval-v13a cuts them, no smoothing.

    Empty cases: two texts without words are equal (1). A text without words against another has 0, and so
    has one without a common run of four tokens, however like it is.

    Differences from the reference: none; Hugging Face's `bleu` takes a corpus, of which this is one segment
    (`corpus_bleu` takes many). OmniDocBench hands truth and prediction over the wrong way round.

    >>> from parsemark.metrics import score
    >>> round(score("a b c d e", "a b c d f", metrics=["bleu"])["bleu"].value, 3)
    0.669
    """

    name = "bleu"
    reference = "nltk; Hugging Face's definition"
    metadata = Metadata("BLEU-4 of a text", "Papineni et al. 2002, BLEU", reference, kind="text")

    def compute(self, truth: str, pred: str) -> float:
        """Return the value for one pair."""
        if not tokenize_13a(truth) and not tokenize_13a(pred):
            return 1.0
        return corpus_bleu([pred], [truth])


def tokenize_13a(text: str) -> list[str]:
    """Return words and punctuation, as mteval-v13a cuts them.

    >>> tokenize_13a("3.5 cats, 2-3 dogs.")
    ['3.5', 'cats', ',', '2', '-', '3', 'dogs', '.']
    """
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for name, sign in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        text = text.replace(name, sign)
    text = _PUNCTUATION.sub(r" \1 ", f" {text} ")
    text = _AFTER_LETTER.sub(r"\1 \2 ", text)
    text = _BEFORE_LETTER.sub(r" \1 \2", text)
    return _DASH.sub(r"\1 \2 ", text).split()


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Return BLEU-4 of segments, each with one reference; 0 if some order has no match."""
    precisions, ratio = bleu_parts(hypotheses, references)
    if min(precisions) == 0:
        return 0.0
    precision = math.exp(sum(map(math.log, precisions)) / ORDER)
    return precision if ratio > 1 else precision * math.exp(1 - 1 / ratio)


def bleu_parts(hypotheses: Sequence[str], references: Sequence[str]) -> tuple[list[float], float]:
    """Return the precisions of runs of 1 to 4 tokens, and the length of the hypotheses over the
    references'.
    """
    matched, possible = [0] * ORDER, [0] * ORDER
    length_hypothesis = length_reference = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        said, wanted = tokenize_13a(hypothesis), tokenize_13a(reference)
        length_hypothesis += len(said)
        length_reference += len(wanted)
        for n in range(1, ORDER + 1):
            matched[n - 1] += (token_ngrams(said, n) & token_ngrams(wanted, n)).total()
            possible[n - 1] += max(0, len(said) - n + 1)
    precisions = [m / p if p else 0.0 for m, p in zip(matched, possible, strict=True)]
    return precisions, length_hypothesis / length_reference if length_reference else 0.0


def token_ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Return runs of n tokens, and how often each comes."""
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
