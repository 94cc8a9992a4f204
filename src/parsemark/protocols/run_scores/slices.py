"""Figures by attribute: which groups of pages or elements there are, and the figures of each."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parsemark.model import AttributeValue, Element
from parsemark.pdf.page_kinds import TRAITS, stored_kinds
from parsemark.protocols.run_scores.aggregate import figure_of_sums
from parsemark.protocols.run_scores.sums import FigureSums
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Figure, Slice

MAX_VALUES = 20  # an attribute with more values than this is an identifier or a measurement, not a group

_EXACT = 2**53  # up to here each whole number is a float of its own

Member = TypeVar("Member")


def page_attributes(samples: pl.DataFrame) -> list[dict[str, AttributeValue]]:
    """Return the attributes that divide pages into slices: those of the corpus, and their types under other
    names.

    A kind that all pages are of tells none from another, and is left out.
    """
    said = [json.loads(text) if text else {} for text in samples["attributes"]]
    kinds = [stored_kinds(text) for text in samples.to_dict().get("kinds", [None] * len(said))]
    telling = [trait for trait in TRAITS if len({own.get(trait) for own in kinds} - {None}) > 1]
    return [
        {**{TRAITS[trait]: own[trait] for trait in telling if trait in own}, **attributes}
        for attributes, own in zip(said, kinds, strict=True)
    ]


def attribute_groups(
    members: Iterable[tuple[Member, Mapping[str, AttributeValue]]],
) -> list[tuple[str, str, list[Member]]]:
    """Return each attribute and value with the members that have it; one with too many values makes no
    groups.
    """
    groups: dict[str, dict[str, list[Member]]] = {}
    too_many: set[str] = set()
    for member, attributes in members:
        for name, value in attributes.items():
            if name not in too_many:
                own = groups.setdefault(name, {})
                own.setdefault(attribute_label(value), []).append(member)
                if len(own) > MAX_VALUES:
                    too_many.add(name)
                    del groups[name]
    return [(name, *own) for name, values in sorted(groups.items()) for own in sorted(values.items())]


def attribute_label(value: object) -> str:
    """Return an attribute's value in words; equal numbers have one spelling, as 10 and 10.0.

    >>> attribute_label(10.0), attribute_label(10), attribute_label(9.5), attribute_label(True)
    ('10', '10', '9.5', 'true')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def element_attributes(element: Element) -> dict[str, AttributeValue]:
    """Return the attributes that divide elements into slices: their own, and how their truth was found."""
    return {**element.traits, **({} if element.derivation is None else {"derivation": element.derivation})}


_Masks = tuple[list[NDArray[np.bool_]], list[int]]
"""The pages that groups consist of, each once, and which of them is that of each group."""


def _masks(groups: Iterable[Sequence[int]], n: int) -> _Masks:
    """Return the groups of pages as masks; those of the same pages share one, as their figures are equal."""
    places: dict[bytes, int] = {}
    masks: list[NDArray[np.bool_]] = []
    of_group = []
    for group in groups:
        mask = np.isin(np.arange(n), group)
        if (number := places.setdefault(mask.tobytes(), len(masks))) == len(masks):
            masks.append(mask)
        of_group.append(number)
    return masks, of_group


def page_slices(
    figures: Sequence[FigureSums],
    tables: RunTables,
    more: Mapping[str, Mapping[str, AttributeValue]] | None = None,
) -> list[Slice]:
    """Return the figures for each group of pages; a group without truth has only what needs none.

    `more` has attributes of pages, by their ids, beside those that the corpus says.
    """
    samples = tables.known("samples", "sample", "attributes", "kinds")
    said = zip(samples["sample"], page_attributes(samples), strict=True)
    known = ((sample, {**(more or {}).get(sample, {}), **own}) for sample, own in said)
    named = attribute_groups((s, {k: v for k, v in own.items() if v is not None}) for s, own in known)
    numbers: list[dict[str, dict[str, Figure]]] = [defaultdict(dict) for _ in named]
    kept: dict[int, _Masks] = {}
    for figure in figures:
        if id(figure.samples) not in kept:  # most figures are of the same pages
            position = {sample: k for k, sample in enumerate(figure.samples)}
            members_at = ([position[s] for s in members if s in position] for *_, members in named)
            kept[id(figure.samples)] = _masks(members_at, len(position))
        masks, of_group = kept[id(figure.samples)]
        for parser, pages in figure.sums.items():
            found = [figure_of_sums(figure, pages * mask[:, None]) for mask in masks]
            for own, number in zip(numbers, of_group, strict=True):
                own[parser][figure.info.name] = found[number]
    return [
        Slice(scope="page", attribute=attribute, value=value, n=len(set(members)), figures=dict(own))
        for (attribute, value, members), own in zip(named, numbers, strict=True)
    ]
