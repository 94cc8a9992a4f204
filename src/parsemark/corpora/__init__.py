"""Pages with their truth, by the name of their corpus: loaded, read from PDFs themselves, made, or damaged.

`loaders` reads folders and benchmarks' files; `tagged` and `source_pairs` find truth in PDFs and sources;
`latex` compiles real sources, `synthetic` makes documents, `degrade` makes pages harder to read.
"""

from parsemark.corpora.base import CORPORA, MALFORMED, Corpus, Remark, load_corpus

__all__ = ["CORPORA", "MALFORMED", "Corpus", "Remark", "load_corpus"]
