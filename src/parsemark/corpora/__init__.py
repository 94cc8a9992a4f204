"""Pages with their truth, by the name of their corpus: loaded, read from PDFs themselves, or made.

`loaders` reads folders and benchmarks' files; `tagged` and `source_pairs` find truth in PDFs and sources;
`making` finds makers of new corpora, which other packages bring.
"""

from parsemark.corpora.base import CORPORA, Corpus, Remark, load_corpus

__all__ = ["CORPORA", "Corpus", "Remark", "load_corpus"]
