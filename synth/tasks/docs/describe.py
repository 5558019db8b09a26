"""Descriptions: what stands in a question in place of a name, and proof that it fits one thing only."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from synth.schemas.documents import Edge
from synth.tasks.docs.corpus import Corpus, name_words
from synth.tasks.docs.english import VERBS, clause, is_fragment
from synth.tasks.docs.kinds import MEMBERS, PLACES, is_nameable, noun_of
from synth.text.words import content_words, stem, tokens

__all__ = ["Description", "Descriptions", "Start", "leaks"]

FRAMES = ("described as “",)
"""What is put before words that are quoted as a description."""
_PARAMETER = re.compile(r"(?<![\w.'\"=])\*{0,2}([A-Za-z_]\w*)(?=\s*[,)=\[\]:/]|\s*$)")
_WORD = re.compile(r"[\w.]*\w|\w")
_DETERMINERS = frozenset("the a an its given specified any each every another all both".split())
_GOVERNING = frozenset(
    (
        "of for in to from with by on at as and or is are if into over using than whether that whose when under "
        "between like called named"
    ).split()
)
"""A parameter behind one of these is a bare name: "the value for key"."""


@dataclass(frozen=True)
class Description:
    """An entity without its name."""

    entity: int
    edge: int
    """Row of the edge ``described_as`` or ``subtitle`` whose span it is taken from."""
    noun: str
    clause: str
    """Follows the noun: "that returns ..."."""
    context: int = -1
    """The class or module that is named beside it ("method of zipfile.ZipFile"), or -1."""

    @property
    def phrase(self) -> str:
        return f"{self.noun} {self.clause}"


@dataclass(frozen=True)
class Start:
    """What a question begins with: a thing that it describes, or one that it names."""

    entity: int
    phrase: str
    """With its article: "the class that ...", "the pg_dump program"."""
    kind: str
    description: Description | None = None
    """None: it is named."""

    @property
    def context(self) -> int:
        """What is named beside a description, or -1."""
        return self.description.context if self.description else -1


class Descriptions:
    """All entities that can be described, and a search for others that a description would fit as well.

    A description is unique when no other entity's own words hold more than ``overlap`` of its content words, weighted
    by how rare they are (inverse document frequency over all described entities).
    """

    def __init__(self, corpus: Corpus, *, overlap: float = 0.72) -> None:
        self.corpus = corpus
        self._overlap = overlap
        self.of: dict[int, list[Description]] = defaultdict(list)
        words_of: dict[int, set[str]] = defaultdict(set)
        self._common = Counter(
            word for edge in corpus.edges if edge.relation == "described_as" for word in set(tokens(edge.value or ""))
        )
        for number, edge in enumerate(corpus.edges):
            if edge.relation == "links_to":
                if found := self._elsewhere(edge, number):
                    self.of[edge.object].append(found)
                    words_of[edge.object].update(stems(corpus.quote(edge)))
                continue
            if edge.relation not in ("described_as", "subtitle") or edge.value is None:
                continue
            entity = corpus.entities[edge.subject]
            words_of[edge.subject].update(stems(edge.value))
            read = self._summarise if edge.relation == "subtitle" else self._describe
            if found := read(edge.subject, number, edge.value):
                self.of[entity.ordinal].append(found)
        vocabulary = {word: i for i, word in enumerate(sorted({w for words in words_of.values() for w in words}))}
        self._entities = np.array(sorted(words_of), dtype=np.int64)
        postings: list[list[int]] = [[] for _ in vocabulary]
        for place, entity in enumerate(self._entities):
            for word in words_of[int(entity)]:
                postings[vocabulary[word]].append(place)
        self._postings: list[NDArray[np.int64]] = [np.array(p, dtype=np.int64) for p in postings]
        self._vocabulary = vocabulary
        n = max(1, len(self._entities))
        self._weight = np.array([np.log(1 + n / (1 + len(p))) for p in postings]) if postings else np.zeros(0)

    def _describe(self, entity: int, number: int, sentence: str) -> Description | None:
        found = self.corpus.entities[entity]
        if self.corpus.out[entity].get("row_of") or self.corpus.out[entity].get("far_row_of"):
            return self._row(entity, number, sentence)
        noun = noun_of(found.kind)
        owner = -1
        if found.kind in MEMBERS:
            # What a method does is said in terms of its class, so the class must be named beside it.
            owner = min(self.corpus.targets(entity, "member_of"), default=-1)
        if not is_nameable(found.kind) or found.kind == "section" or (found.kind in MEMBERS and owner < 0):
            return None
        short = found.name.rsplit(".", 1)[-1]
        if not 20 <= len(sentence) <= 400:
            return None
        said = clause(sentence, found.name, found.kind) or (
            clause(sentence, short, found.kind) if short != found.name else None
        )
        if said is None or is_fragment(said, most=140) or spells_out(said, found.name):
            return None
        if self._has_bare(said, self._parameters(entity)):
            return None
        noun, said = _without_repeat(noun, said, found.kind)
        if not said:
            return None
        if found.kind == "glossary term":
            said = re.sub(r"^that is (?=an? |the )", "for ", said)
            if not said.startswith("for "):
                return None
        if found.kind in PLACES:
            noun = _page_noun(sentence, found.kind)
        if owner >= 0:
            noun = f"{noun} of {self.corpus.entities[owner].name}"
        return Description(entity, number, noun, said, owner)

    def _elsewhere(self, edge: Edge, number: int) -> Description | None:
        """What another page says of a thing in a sentence that begins with its name."""
        corpus = self.corpus
        found = corpus.entities[edge.object]
        if edge.document == found.document or not is_nameable(found.kind) or found.kind in PLACES | {"glossary term"}:
            return None
        sentence = corpus.quote(edge)
        name = next((n for n in (found.name, *found.aliases) if sentence.startswith((f"{n} ", f"The {n} "))), None)
        if name is None or not 30 <= len(sentence) <= 300:
            return None
        said = clause(sentence, name, found.kind)
        if _NEWS.search(corpus.columns.titles[edge.document]) or _REMARK.search(said or ""):
            return None
        if said is None or is_fragment(said, least=30, most=140) or spells_out(said, found.name):
            return None
        noun, said = _without_repeat(noun_of(found.kind), said, found.kind)
        return Description(edge.object, number, noun, said) if said else None

    def unique(self, description: Description) -> Description | None:
        """The description, with the name of the module beside it where it would fit things elsewhere; None when it fits
        another thing even so."""
        rivals = self.rivals(description.clause, description.entity)
        corpus, entity = self.corpus, description.entity
        if description.context >= 0:
            inside = corpus.sources(description.context, "member_of")
            return None if inside & set(rivals) else description
        if not rivals:
            return description
        homes = corpus.targets(entity, "defined_in")
        home = next(iter(homes)) if len(homes) == 1 else -1
        if home < 0 or corpus.entities[home].kind != "module":
            return None
        inside = corpus.sources(home, "defined_in") | {home}
        if inside & set(rivals):
            return None
        noun = f"{description.noun} in the {corpus.entities[home].name} module"
        return replace(description, noun=noun, context=home)

    def _parameters(self, entity: int) -> list[str]:
        """Names of parameters: outside of the entry they mean nothing."""
        corpus = self.corpus
        for number in corpus.out[entity].get("defined_in", ()):
            _, _, inside = corpus.quote(corpus.edges[number]).partition("(")
            return [*dict.fromkeys(_PARAMETER.findall(inside)), "self", "x", "y", "n", "s"]
        return []

    def _summarise(self, entity: int, number: int, subtitle: str) -> Description | None:
        """A page by what its title says behind the name: "CLUSTER — cluster a table according to an index"."""
        found = self.corpus.entities[entity]
        words = subtitle.rstrip(".")
        if any(c in words for c in "“”«»"):
            return None  # it is quoted itself
        if is_fragment(words, least=12, most=110) or spells_out(words, found.name):
            return None
        if not self.corpus.is_page(entity) or found.kind in PLACES:
            return None
        return self._quoted(entity, number, words)

    def _row(self, entity: int, number: int, words: str) -> Description | None:
        """A thing by what the table that lists it says of it."""
        name = self.corpus.entities[entity].name
        words = words.rstrip(".")
        if any(c in words for c in "“”«»") or is_fragment(words, least=14, most=110):
            return None
        return (
            None if spells_out(words, name) or leaks(words, name, frozenset()) else self._quoted(entity, number, words)
        )

    def _quoted(self, entity: int, number: int, words: str) -> Description | None:
        """A clause where the words begin with a verb, else the words themselves between quotation marks."""
        found = self.corpus.entities[entity]
        if words.split()[0].lower() in VERBS:
            said = clause(words[0].upper() + words[1:], found.name, "function")
            return Description(entity, number, noun_of(found.kind), said) if said else None
        return Description(entity, number, noun_of(found.kind), f"{FRAMES[0]}{words}”")

    def _has_bare(self, said: str, parameters: Sequence[str]) -> bool:
        """Whether a parameter stands in the words as a name, and not as an ordinary noun ("the file")."""
        known = set(parameters)
        before = ""
        for word in _WORD.findall(said):
            if word in known and before not in _DETERMINERS:
                common = len(word) >= 4 and self._common[word.lower()] >= 25
                if not common or before in _GOVERNING or before.endswith("s"):
                    return True
            before = word.lower()
        return False

    def rivals(self, words: str, entity: int) -> list[int]:
        """Other entities whose own words hold so much of ``words`` that these fit them as well, best first."""
        wanted = [i for w in stems(words) if (i := self._vocabulary.get(w)) is not None]
        total = float(self._weight[wanted].sum()) if wanted else 0.0
        if total <= 0:
            return []
        covered = np.zeros(len(self._entities))
        for i in wanted:
            covered[self._postings[i]] += self._weight[i]
        near = np.flatnonzero(covered >= self._overlap * total)
        near = near[np.argsort(-covered[near], kind="stable")]
        return [int(self._entities[i]) for i in near if int(self._entities[i]) != entity]

    def share(self, wanted: set[str], held: frozenset[str] | set[str]) -> float:
        """How much of ``wanted`` (stems) ``held`` has, weighted by rarity; words that no description has count most."""
        heaviest = float(self._weight.max()) if len(self._weight) else 1.0
        weight = {w: float(self._weight[i]) if (i := self._vocabulary.get(w)) is not None else heaviest for w in wanted}
        total = sum(weight.values())
        return sum(weight[w] for w in wanted if w in held) / total if total else 1.0

    def candidates(self, kinds: Sequence[str] | None = None) -> list[int]:
        """Entities that can be described, in order."""
        return [e for e in sorted(self.of) if kinds is None or self.corpus.entities[e].kind in kinds]


def stems(text: str) -> set[str]:
    """Content words without the endings of verbs and plurals, so that "writes" meets "write" and "writing"."""
    return {stem(word) for word in content_words(text)}


def leaks(text: str, name: str, generic: frozenset[str]) -> str | None:
    """The word of ``text`` that gives ``name`` away: the name's last part, or a word of it that few names share."""
    last = name.rsplit(".", 1)[-1]
    parts = [w for w in name_words(last) if len(w) > 2 and (w not in generic or w == last.lower())]
    for word in tokens(text.replace("_", " ").replace(".", " ").replace("-", " ")):
        if any(_akin(word, part) for part in parts):
            return word
    return None


def spells_out(text: str, name: str) -> bool:
    """Whether ``text`` holds every word of the name's last part: whoever reads it knows the name."""
    last = name.rsplit(".", 1)[-1]
    said = tokens(text.replace("_", " ").replace(".", " ").replace("-", " "))
    whole = last.strip("_").lower()
    parts = [w for w in name_words(last) if w != whole or "_" not in last] or [whole]
    small = [w for w in parts if w != whole] or [whole]
    return any(_akin(word, whole) for word in said) or all(any(_akin(word, part) for word in said) for part in small)


def _akin(word: str, part: str) -> bool:
    """Equal, or one begins with the other and both are long enough for that to mean something."""
    return word == part or (min(len(word), len(part)) >= 4 and (word.startswith(part) or part.startswith(word)))


_HEADS = {"constant": "constant|variable", "module": "module|package", "exception": "exception|error"}


def _without_repeat(noun: str, said: str, kind: str) -> tuple[str, str]:
    """ "class that is an abstract class for ..." -> "abstract class for ..."."""
    heads = _HEADS.get(kind, re.escape(noun))
    match = re.match(
        rf"that is (?:an?|the) ((?:[\w-]+ ){{0,3}}?(?:{heads})) (?=(?:for|that|which|used"
        rf"|to|with|of|in|raised|whose)\b)(.*)$",
        said,
    )
    if match:
        return match[1], match[2]
    return (noun, "") if re.match(rf"that is (?:an?|the) (?:[\w-]+ ){{0,3}}?(?:{heads})\b", said) else (noun, said)


_NEWS = re.compile(r"What’s New|What's New|Release|Change ?log|History|Migrat", re.IGNORECASE)
_REMARK = re.compile(
    r"^that (?:can|is (?:meant|used|much|more|now|useful|available|similar|like|equivalent|one of|required)|has|have"
    r"|currently|works?|uses?|appears?|lets)\b|\b(?:more|better|faster|than|alternat\w+|fancier|different|new|newer|old|older|other"
    r"|another|example|instead|same|such|only)\b"
)
"""What one page says of another's subject is a remark about it more often than it is a definition."""


def _page_noun(sentence: str, kind: str) -> str:
    match = re.match(r"This (chapter|section|document|tutorial|guide|appendix|article|page|FAQ|HOWTO)\b", sentence)
    return match[1] if match else kind
