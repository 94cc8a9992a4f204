"""Pages with their truth, by the name of their corpus: loaded, carried by PDFs themselves, or made.

`loaders` reads folders and other benchmarks' files, `carried` the truth that PDFs and sources bring along;
`making` finds makers of new corpora, which other packages bring.
"""

from parsemark.corpora.base import CORPORA, Corpus, Remark, load_corpus

__all__ = ["CORPORA", "Corpus", "Remark", "load_corpus"]
