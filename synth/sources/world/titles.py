"""Titles of books, films and artworks, and how works that share one are told apart."""

from __future__ import annotations

from collections import Counter

import numpy as np

from synth.sources.world.cultures import CULTURES, REAL_NAMES
from synth.sources.world.draft import Draft
from synth.sources.world.draws import Ints
from synth.sources.world.vocabulary import TITLE_ADJECTIVES, TITLE_NOUNS, TITLE_PLURALS

__all__ = ["name_works"]

_BOOK_WORD = ("novel",) * 5 + ("poetry book",) * 3 + ("play",) * 3


def name_works(draft: Draft, names: list[str], called: list[str], aliases: list[tuple[str, ...]]) -> None:
    """Fill in the names of works. A film mostly keeps the title of its book; some books share a title by chance."""
    books = _titles(draft, "book")
    films = _titles(draft, "film")
    artworks = _titles(draft, "artwork")
    generator = draft.generator("shared titles")

    for kind, titles in (("book", books), ("artwork", artworks)):
        first = draft.first[kind]
        year = draft.begin[first : first + len(titles)]
        other = draft.pool(kind).draw(draft.home(kind), generator, 0.3) - first
        alike = (generator.random(len(titles)) < draft.config.lookalikes) & (year[other] != year)
        alike &= ~alike[other]
        for row in np.flatnonzero(alike).tolist():
            titles[row] = titles[int(other[row])]
            draft.lookalike[first + row] = first + int(other[row])
    # After the books have their titles, films take them.
    source = draft.facts["adapted_from", "film"]
    keeps = generator.random(len(films)) < 0.65
    for row in np.flatnonzero((source >= 0) & keeps).tolist():
        films[row] = books[int(source[row]) - draft.first["book"]]
        draft.lookalike[draft.first["film"] + row] = int(source[row])

    genre = draft.facts["genre", "book"].tolist()
    used = Counter(books) + Counter(films) + Counter(artworks)
    taken = set(names)
    for kind, titles in (("book", books), ("film", films), ("artwork", artworks)):
        first = draft.first[kind]
        years = draft.begin[first : first + len(titles)].tolist()
        for row, title in enumerate(titles):
            name = title
            if used[title] > 1 or title in taken:
                word = _BOOK_WORD[genre[row]] if kind == "book" else kind
                name = f"{title} ({years[row]} {word})"
            number = 2
            while name in taken:  # same title, kind and year: a numbered title, as series have
                title = f"{titles[row]} {_roman(number)}"
                name, number = title, number + 1
            taken.add(name)
            names[first + row] = name
            called[first + row] = title
            if name != title:
                aliases[first + row] = (title,)


def _titles(draft: Draft, kind: str) -> list[str]:
    """Titles from a grammar of six patterns; about half hold an invented place, so that any number is at hand."""
    generator = draft.generator("titles", kind)
    n = draft.count[kind]
    pattern = generator.integers(0, 6, n).tolist()
    a = [TITLE_ADJECTIVES[i] for i in generator.integers(0, len(TITLE_ADJECTIVES), n).tolist()]
    b = [TITLE_NOUNS[i] for i in generator.integers(0, len(TITLE_NOUNS), n).tolist()]
    c = [TITLE_PLURALS[i] for i in generator.integers(0, len(TITLE_PLURALS), n).tolist()]
    place = _roots(generator, n)
    out = []
    for which, adjective, noun, plural, root in zip(pattern, a, b, c, place, strict=True):
        if which == 0:
            out.append(f"The {adjective} {noun}")
        elif which == 1:
            out.append(f"The {noun} of {root}")
        elif which == 2:
            out.append(f"{plural} of {root}")
        elif which == 3:
            out.append(f"{adjective} {plural}")
        elif which == 4:
            out.append(f"The {noun} and the {plural}")
        else:
            out.append(f"The {adjective} {noun} of {root}" if kind != "artwork" else f"{noun} at {root}")
    return out


def _roots(generator: np.random.Generator, n: int) -> list[str]:
    culture: Ints = generator.integers(0, len(CULTURES), n)
    out = [""] * n
    for index, item in enumerate(CULTURES):
        rows = np.flatnonzero(culture == index)
        codes = generator.integers(0, item.place.size, len(rows))
        for row, text in zip(rows.tolist(), item.place.render(codes), strict=True):
            out[row] = text if text.lower() not in REAL_NAMES else "Ashmere"
    return out


def _roman(number: int) -> str:
    out = ""
    for value, digits in ((50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        while number >= value:
            out += digits
            number -= value
    return out
