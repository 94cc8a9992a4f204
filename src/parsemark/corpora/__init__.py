"""Pages with their truth, by the name of their corpus: loaded, made, carried by PDFs themselves, or damaged.

`loaders` reads folders and other benchmarks' files, `carried` the truth that PDFs and sources bring along,
`latex` compiles real sources, `synthetic` makes documents, `degrade` makes pages harder to read.
"""

from parsemark.corpora.base import CORPORA, MALFORMED, Corpus, Remark, load_corpus

__all__ = ["CORPORA", "MALFORMED", "Corpus", "Remark", "load_corpus"]
