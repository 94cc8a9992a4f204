"""File names and ids for the site, made from names that others chose.

Parser and sample names come from outside and may hold anything; a file is never named by one. It gets the
harmless part of the name, for people, and a hash of the whole, for identity.
"""

import hashlib
import re
import unicodedata
from urllib.parse import urlencode

_UNSAFE = re.compile(r"[^a-z0-9]+")
SLUG_LENGTH = 40


def safe_name(name: str) -> str:
    """Return a file name stem: letters, digits and hyphens alone, different for different names.

    >>> safe_name("camelot(flavor=stream)")
    'camelot-flavor-stream-40c08920'
    >>> safe_name("../../etc/passwd")[:11]
    'etc-passwd-'
    """
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = _UNSAFE.sub("-", ascii_only.lower())[:SLUG_LENGTH].strip("-") or "x"
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug}-{digest}"


def page_file(index: int) -> str:
    """Return where the data and images of page number `index` lie, without suffix.

    >>> page_file(12345)
    '012/12345'
    """
    return f"{index // 1000:03d}/{index:05d}"


def viewer_link(
    *,
    page: str | None = None,
    parser: str | None = None,
    table: str | None = None,
    beside: str | None = None,
    beside_older: str | None = None,
    queue: str | None = None,
    protocol: str | None = None,
    only: str | None = None,
) -> str:
    """Return the address of a view in the site's page viewer; what is None is left to the viewer.

    >>> viewer_link(page="p 1", parser="camelot", beside="rapid")
    'viewer.html#page=p+1&parser=camelot&with=rapid'
    """
    named = {"page": page, "table": table, "parser": parser, "with": beside, "old": beside_older}
    named |= {"queue": queue, "protocol": protocol, "filter": only}
    return f"viewer.html#{urlencode({k: v for k, v in named.items() if v is not None})}"
