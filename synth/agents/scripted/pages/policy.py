"""The choices of the scripted policy over pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from synth.agents.scripted.matching import content_stems, introduces_alias, likeness, same_name, similarity
from synth.agents.scripted.options import Option, about, asked_for, context_of, folder_words, options_in, subject
from synth.agents.scripted.pages.entries import entries_with, told_in
from synth.agents.scripted.pages.speaking import speaks_of, values_in, within
from synth.agents.scripted.pages.turning import MENTIONS, PageTurning
from synth.agents.scripted.reference import looks_like
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.state import Value
from synth.environments.passages import Passage
from synth.environments.shown import Hit
from synth.schemas.documents import ValueKind
from synth.text.words import places_of, words

__all__ = ["PageReadingChooser"]

_WHOLE = re.compile(
    r"\b(?:module|command|program|page|chapter|section|package|crate|tool|library|appendix)s?\b|^Which \S+ has an? "
)
"""Kinds of things that have pages of their own."""
_HAS = re.compile(r"^Which \S+ has an? ")


class PageReadingChooser(PageTurning):
    def _noise(self) -> float:
        return float(self._generator.normal(0.0, 1.0)) * self._config.misreading * 2 * (1 - self._config.skill)

    # Which result.

    def source_hit(self, clue: int, name: str, hits: Sequence[Hit]) -> Hit | None:
        told = next((hit for hit in hits if self._is_told(hit.title, name)), None)
        if told is not None:
            return told
        exact = [hit for hit in hits if same_name(hit.title, name)]
        named, alike = self._named(name, hits, exact, "opened")
        if named is not None:
            return named
        mentioning = [hit for hit in hits if introduces_alias(hit.text, name)]
        return next(iter(mentioning), alike[0] if alike and likeness(alike[0].title, name) >= 0.5 else None)

    def _is_told(self, title: str, name: str) -> bool:
        """Whether the question says that ``name`` stands on the page of that title."""
        return not same_name(title, name) and any(same_name(title, page) for page in self._state.reading.pages)

    def searches_on(self, clue: int, made: int) -> bool:
        return True

    def related_hit(self, clue: int, name: str, hits: Sequence[Hit]) -> Hit | None:
        cue = self._state.reading.clues[clue].cue
        told = next((hit for hit in hits if not name and self._is_told(hit.title, name)), None)
        if told is not None:
            return told
        scored: list[tuple[float, int]] = []
        for place, hit in enumerate(hits):
            mentions = not name or name.casefold() in f"{hit.title} {hit.text}".casefold()
            text = f"{hit.title}. {hit.text}"
            score = similarity(cue, text, self._lexicon, (name,)) + self._noise() - 0.01 * place
            scored.append((score + (0.3 if mentions else 0.0), place))
        score, place = max(scored)
        tried = sum(number == clue for number, _ in self._state.dismissed)
        others = [found for found in scored if found[1] != place]
        if others and not (name or tried) and _HAS.search(self._state.reading.question) and self.errs(0.9):
            score, place = max(others)
            self.log("wrong_page", f"opened {hits[place].title!r} first")
        return hits[place] if score >= 0.15 and tried < 4 else None

    def is_source(self, clue: int, name: str, document: SeenDocument) -> bool:
        if same_name(document.title, name) or self._is_told(document.title, name):
            return True
        if any(introduces_alias(sentence.text, name) for sentence in document.pages.get(1, ())[:4]):
            return True
        return len(name) > 2 and bool(about(document.sentences(), name))

    def overlooks(self, clue: int, name: str, document: SeenDocument) -> bool:
        if likeness(document.title, name) < 0.3 or not self.errs(self._config.skipped_check):
            return False
        self.log("skipped_check", f"took the page {document.title!r} for {name!r}")
        return True

    # What on the page.

    def option(self, clue: int, name: str, document: SeenDocument) -> Option | None:
        reading = self._state.reading
        last = reading.clues[clue].target == reading.answer
        kind = reading.clues[clue].kind
        if not name and kind == "entity" and (not last or document.unread is not None):
            return None  # what is described must be recognized first
        if entries := self._entries(clue, document):
            return entries[0]
        options = list(self._options(clue, name, document, kind))
        if not options:
            return None
        first = {"date": "first_date", "year": "first_date", "number": "first_number", "quantity": "first_number"}
        if last and first.get(kind) in self._config.systematic:
            self.log(first[kind], f"took {options[0].text!r}, the first on {document.title!r}")
            return options[0]
        if kind == "entity":
            options = self._likely(clue, document, options)
        if not options:
            return None
        cue = reading.clues[clue].cue
        fits = [self._fit(cue, name, document.title, option) + self._bonus(clue, option) for option in options]
        noisy = [fit + self._noise() for fit in fits]
        chosen, best = int(np.argmax(noisy)), int(np.argmax(fits))
        if noisy[chosen] < self._config.threshold:
            return None
        others = [option for option in options if option.text != options[chosen].text]
        if not last and kind != "entity" and others and self.errs(self._config.wrong_measure):
            taken = others[int(self._generator.integers(len(others)))]
            self.log("wrong_measure", f"read {taken.text!r} rather than {options[chosen].text!r} for {name!r}")
            return taken
        if chosen != best and options[chosen].sentence != options[best].sentence:
            self.log("wrong_relation", f"took {options[chosen].text!r} rather than {options[best].text!r}")
        return options[chosen]

    def _entries(self, clue: int, document: SeenDocument) -> list[Option]:
        """Entries under which the value of another condition on the same unknown stands, the likeliest first."""
        clues = self._state.reading.clues
        values = [c for n, c in enumerate(clues) if n != clue and c.value and c.target == clues[clue].target]
        if not values or clues[clue].value:
            return []
        found = entries_with(values, document, self._lexicon, self._noise, self._config.threshold)
        return [option for option in found if not self._state.is_dismissed(clue, option.text, None)]

    def _likely(self, clue: int, document: SeenDocument, options: list[Option]) -> list[Option]:
        """Those that read like the kind of thing that is sought; where another condition gives a name and the page is
        long, those that go with it, or none before it was looked for."""
        asked = self._state.reading.clues[clue]
        if "see also" in asked.cue.casefold():
            options = [option for option in options if "see also" in context_of(option.sentence).casefold()]
        if looks_like("", None, asked.sought) is not None and not self.errs(0.1):
            options = [option for option in options if looks_like(option.text, option.place, asked.sought)]
        together = [option for option in options if self._goes_with_another(clue, option)]
        if together:
            return together
        looked = any(find.document == document.document for find in self._seen.finds)
        others = any(c.member and c.name and c.target == asked.target for c in self._state.reading.clues)
        return [] if others and not looked and document.total > 2 else options

    def _goes_with_another(self, clue: int, option: Option) -> bool:
        """Whether the option holds a name from another condition on the same unknown, or stands on that name's page."""
        clues = self._state.reading.clues
        others = [c.name for n, c in enumerate(clues) if n != clue and c.name and c.target == clues[clue].target]
        shown = f"{option.text} {option.place or ''}"
        return any(_holds(shown, other) for other in others) or any(
            _holds(sentence.text, option.text)
            for other in others
            for page in self._seen.documents.values()
            if page.document != option.sentence.document and same_name(page.title, other)
            for sentence in page.sentences()
        )

    def _options(self, clue: int, name: str, document: SeenDocument, kind: ValueKind) -> Iterator[Option]:
        known = {name, document.title, *(value.name for value in self._state.values.values())}
        known |= {other.name for other in self._state.reading.clues if other.name}
        sentences = list(document.sentences())
        if name:
            if self.is_source(clue, name, document):
                whole = [] if self._is_told(document.title, name) else sentences
                sentences = sentences if same_name(document.title, name) else about(sentences, name) or whole
            else:
                sentences = [s for s in sentences if name.casefold() in s.text.casefold()]
        linked = kind == "entity" and any(sentence.links for sentence in sentences)
        sentences = [s for s in sentences if s.text != s.heading and (s.links or not linked)]
        cue = self._state.reading.clues[clue].cue
        told = {s: values for s in sentences if (values := told_in(s, cue, kind, document))}
        for sentence in told or sentences:  # where a value is told in so many words, no other sentence is looked at
            values = told.get(sentence, [])
            for option in [Option(value, sentence) for value in values] or options_in(sentence, kind):
                new = option.document != document.document and not any(same_name(option.text, n) for n in known)
                if new and not self._state.is_dismissed(clue, option.text, option.document):
                    yield option

    def _bonus(self, clue: int, option: Option) -> float:
        """What speaks for an option apart from its words: it is of the kind that the question names, it goes with a
        name from another condition, it stands where the question says."""
        clues = self._state.reading.clues
        cue = clues[clue].cue
        value = clues[clue].kind != "entity"
        alike = None if value else looks_like(option.text, option.place, clues[clue].sought)
        bonus = 0.0 if alike is None else 0.2 if alike else -0.2
        folder, slash, _ = (option.place or "").partition("/")
        if slash and alike is None:
            bonus += 0.15 if folder in words(cue) else 0.0
            if not value and clues[clue].target == self._state.reading.answer:
                bonus += 0.2 if folder_words(option.document) & asked_for(self._state.reading.question) else -0.1
        if self._goes_with_another(clue, option):
            bonus += 0.3
        if "see also" in cue.casefold():
            noted = "see also" in context_of(option.sentence).casefold()
            bonus += 0.4 if noted else -0.3
        return bonus

    def _fit(self, cue: str, name: str, title: str, option: Option) -> float:
        """How well the option's sentence, and the stretch of it around the option, fit the clue."""
        sentence = option.sentence
        others = [other.text for other in options_in(sentence, "entity") if f"{other.text}:" not in sentence.text]
        at = sentence.text.find(option.text)
        start, end = 0, len(sentence.text)
        for other in others:
            place = sentence.text.find(other)
            if place + len(other) <= at:
                start = max(start, place + len(other))
            elif place >= at + len(option.text):
                end = min(end, place)
        without = (name, title, option.text, *others)
        whole = similarity(cue, context_of(sentence), self._lexicon, without)
        near = similarity(cue, sentence.text[start:end], self._lexicon, without)
        return max(0.5 * whole + 0.5 * near, self._config.threshold + 0.02 if MENTIONS.search(cue) else 0.0)

    def support(self, clue: int, name: str, document: SeenDocument) -> Passage | None:
        reading = self._state.reading
        cue = reading.clues[clue].cue
        if not name:
            return self._described(clue, cue, document)
        span = reading.clues[clue].span
        if span is not None:
            mentioning = self._within(document, span)
        else:
            mentioning = [s for s in document.sentences() if name.casefold() in s.text.casefold()]
        if mentioning and _only_names(cue, name):
            return mentioning[0]
        scored = [
            (similarity(cue, s.text, self._lexicon, (name, document.title)) + self._noise(), s) for s in mentioning
        ]
        best = max(scored, key=lambda pair: pair[0], default=None)
        return best[1] if best is not None and best[0] >= self._config.threshold else None

    def _within(self, document: SeenDocument, span: tuple[str, str]) -> list[Passage]:
        """Sentences that name a value in the span, as far as it judges that right."""
        inside = [s for s in document.sentences() if within(s, span)]
        outside = [s for s in document.sentences() if values_in(s) and s not in inside]
        if not (inside or outside) or not self.errs(self._config.misjudged_range):
            return inside
        self.log(
            "misjudged_range", f"{'not' if inside else 'taken for'} between {' and '.join(span)}: {document.title}"
        )
        return [] if inside else outside

    def _described(self, clue: int, cue: str, document: SeenDocument) -> Passage | None:
        """The sentence that says what the description says: it holds most of its words, or a passage around it does."""
        reading = self._state.reading
        if reading.clues[clue].kind != "entity":
            return None
        wanted = content_stems(cue).difference(*map(content_stems, reading.pages))
        sentences = list(document.sentences())
        held = [content_stems(s.text) & wanted for s in sentences]
        entry = [subject(s, document.title)[0] != document.title for s in sentences]
        best = max(range(len(held)), key=lambda at: (len(held[at]), entry[at], -at), default=None)
        if best is None or not wanted:
            return None
        around = frozenset().union(*held[max(0, best - 1) : best + 2])
        if not entry[best] and not _WHOLE.search(reading.question):
            return None  # an entry is asked for, and the page shows none here
        return sentences[best] if len(around) / len(wanted) + self._noise() >= 0.6 else None

    def subject(self, clue: int, document: SeenDocument, sentence: Passage) -> str:
        return subject(sentence, document.title)[0]

    def confirmation(self, clue: int, name: str, candidate: str, document: SeenDocument) -> Passage | None:
        asked = self._state.reading.clues[clue]
        other = candidate if self.is_source(clue, name, document) else name
        forms = {other, other.removesuffix("()"), other.removesuffix("()").rsplit(".", 1)[-1]}
        mentioning = [s for s in document.sentences() if any(_holds(s.text, form) for form in forms)]
        if asked.value and (entry := about(document.sentences(), candidate)):
            mentioning = [s for s in entry if _holds(s.text, name)]
            if rows := [s for s in mentioning if " | " in s.text]:
                return rows[0]
        if asked.span is not None:
            mentioning = self._within(document, asked.span)
        if asked.member:
            # Part of it: its name says so, or it has an entry on the page.
            value = self._state.values.get(asked.target)
            part = _holds(f"{candidate} {value.place or ''}" if value is not None else candidate, name)
            entry = about(document.sentences(), candidate) if self.is_source(clue, name, document) else []
            return next(iter(entry or (mentioning if part else [])), None)
        if mentioning and (MENTIONS.search(asked.cue) or _only_names(asked.cue, name)):
            return mentioning[0]
        known = (name, candidate)
        scored = [(similarity(asked.cue, context_of(s), self._lexicon, known) + self._noise(), s) for s in mentioning]
        best = max(scored, key=lambda pair: pair[0], default=None)
        return best[1] if best is not None and best[0] >= 0.8 * self._config.threshold else None

    def contrary(self, clue: int, name: str, document: SeenDocument) -> Passage | None:
        return speaks_of(self._state.reading.clues[clue], name, document, self._lexicon, self._state.place(name))

    def excludes(self, clue: int, name: str, document: SeenDocument) -> bool:
        return False

    def tells(self, clue: int, name: str, hit: Hit) -> bool:
        return False

    def of_kind(self, clue: int, name: str, document: SeenDocument) -> list[str]:
        return []

    def denies(self, clue: int, sentence: Passage, name: str = "") -> bool:
        return False

    def states(self, clue: int, document: SeenDocument) -> bool:
        return False

    def states_line(self, clue: int, sentence: Passage) -> bool:
        return False

    def crosschecks(self, value: Value | None) -> bool:
        return False

    # Sets.

    def members(self, clue: int, name: str, document: SeenDocument) -> list[Option]:
        cue = self._state.reading.clues[clue].cue
        if entries := self._entries(clue, document):
            return entries
        options = list(self._options(clue, name, document, "entity"))
        # Those that lie in a folder that the cue names ("rivers"), where there are any.
        options = [option for option in options if folder_words(option.document) & content_stems(cue)] or options
        fits = [self._fit(cue, name, document.title, option) + self._noise() for option in options]
        bar = max(self._config.threshold + 0.1, 0.6 * max(fits, default=0.0))
        found = [option for option, fit in zip(options, fits, strict=True) if fit >= bar]
        return list({(option.document, option.text): option for option in found}.values())

    def candidates(self, clue: int, name: str, hits: Sequence[Hit]) -> list[Hit]:
        asked = self._state.reading.clues[clue]
        named = content_stems(asked.cue)
        kinds = [hit for hit in hits if folder_words(hit.document) & named] or list(hits)
        likely: list[tuple[float, int]] = []
        for place, hit in enumerate(kinds):
            text = f"{hit.title}. {hit.text}"
            if asked.span is None and name.casefold() not in text.casefold():
                continue
            score = similarity(asked.cue, text, self._lexicon, (name,)) + self._noise()
            if score >= self._config.threshold:
                likely.append((-score, place))
        tried = sum(number == clue for number, _ in self._state.dismissed)
        return [kinds[place] for _, place in sorted(likely)] if tried < 10 else []

    # The answer.

    def answer(self, value: Value, title: str | None) -> str:
        # The page may have the fuller name ("The Lamp (1904 play)"); an entry on a page goes by its own.
        own = "#" not in (value.place or "")
        return title if title is not None and own and same_name(title, value.name) else value.name

    def _early_guess(self, number: int) -> str | None:
        reading = self._state.reading
        if reading.answer < 0:
            return self._early_member()
        page = self._seen.documents.get(self._seen.current or "")
        if page is None or not self.errs(self._config.early_stop):
            return None
        options = list(self._options(number, "", page, reading.asked))
        if not options:
            return None
        cue = reading.clues[-1].cue
        best = max(options, key=lambda option: self._fit(cue, "", page.title, option))
        self.log("early_stop", f"answered {best.text!r} with clue {number} still open")
        return best.text

    def _early_member(self) -> str | None:
        """One of those that were listed so far, before all of them were gone through."""
        reading = self._state.reading
        listed = [value for members in self._state.members.values() for value in members]
        listed += [value for n, value in sorted(self._state.values.items()) if value.document is not None]
        last = reading.deeds[-1].kind if reading.deeds else ""
        if not listed or last not in ("argmin", "argmax", "filter") or not self.errs(self._config.early_stop):
            return None
        self.log("early_stop", f"answered {listed[0].name!r} before all were compared")
        return listed[0].name

    def guess(self) -> str | None:
        page = self._seen.documents.get(self._seen.current or "")
        if page is None or float(self._generator.random()) < 0.3:
            return None
        number = self._state.open_clue() or 0
        options = list(self._options(number, "", page, self._state.reading.asked))
        return options[0].text if options else None


def _only_names(cue: str, name: str) -> bool:
    """Whether a clue says no more than a word or name that must hold ("crime thriller")."""
    return bool(name) and not content_stems(cue) - content_stems(name)


def _holds(text: str, name: str) -> bool:
    """Whether ``name`` stands in ``text`` as whole words, whatever the case."""
    return any(places_of(text, name, case=False))
