"""Invented names: per culture a syllable grammar for given names, surnames and places.

A grammar is a product of parts, so a name is a number in mixed radix: drawing, changing one part (a look-alike) and
rendering are array operations, and the same rules hold for a thousand names and for a million.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["CULTURES", "REAL_NAMES", "Culture", "Grammar"]

_TRIPLE = re.compile(r"(.)\1\1")

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Grammar:
    """Names as the product of ``parts``: one string of each part, in order, first letter raised."""

    parts: tuple[tuple[str, ...], ...]

    @cached_property
    def size(self) -> int:
        return int(np.prod([len(part) for part in self.parts]))

    def render(self, codes: Codes) -> list[str]:
        """Names of ``codes`` ``(n,) int64``, each in ``[0, size)``."""
        columns: list[list[str]] = []
        rest = np.asarray(codes, dtype=np.int64)
        for part in reversed(self.parts):
            rest, digit = np.divmod(rest, len(part))
            columns.append([part[i] for i in digit.tolist()])
        names = ("".join(row) for row in zip(*reversed(columns), strict=True))
        return [_TRIPLE.sub(r"\1\1", name).capitalize() for name in names]

    def near(self, codes: Codes, generator: np.random.Generator) -> Codes:
        """Codes that differ in one of the first two parts: "Vale" -> "Dale", "Tarn" -> "Torn"."""
        sizes = [len(part) for part in self.parts]
        which = generator.integers(0, 2, len(codes))
        out = np.asarray(codes, dtype=np.int64).copy()
        for place in (0, 1):
            stride = int(np.prod(sizes[place + 1 :]))
            digit = (out // stride) % sizes[place]
            shift = generator.integers(1, sizes[place], len(codes))
            changed = out + ((digit + shift) % sizes[place] - digit) * stride
            out = np.where(which == place, changed, out)
        return out


@dataclass(frozen=True)
class Culture:
    """Naming of one group of countries."""

    male: Grammar
    female: Grammar
    surname: Grammar
    place: Grammar
    country: Grammar


def _grammar(*parts: str) -> Grammar:
    # "-" is the empty string: parts are written as words separated by spaces.
    return Grammar(tuple(tuple("" if word == "-" else word for word in part.split()) for part in parts))


def _culture(
    onset: str, vowel: str, given: tuple[str, str, str], surname: tuple[str, str], place: tuple[str, str], country: str
) -> Culture:
    # given: middles, male endings, female endings; surname and place: middles, endings.
    middle, male, female = given
    return Culture(
        male=_grammar(onset, vowel, middle, male),
        female=_grammar(onset, vowel, middle, female),
        surname=_grammar(onset, vowel, *surname),
        place=_grammar(onset, vowel, *place),
        country=_grammar(onset, vowel, middle, country),
    )


CULTURES: tuple[Culture, ...] = (
    _culture(
        "b br c d dr f g h k l m n p r s st t th tr v w wh",
        "a e i o u ea oa ai",
        ("rr ll nd rd st rn ss rl ck", "in an on en ard olf ick ett or", "a is ora elle ine ith yn essa anne"),
        ("rr ll nd rd st lv rn ldr ss mb ck d m n r l", "ow er ing ell ock away ale am inger iston ard emore ern ick"),
        ("r l n m d s ll rn", "ow by ford mouth wick ham stead bourne holm ington leigh moor combe bury cliffe worth"),
        "ania ovia area enne oria eland umar issa uvia",
    ),
    _culture(
        "b c d f g l m n p r s t v z br cr tr gl",
        "a e i o u io ia",
        ("l n r ll rr nd nt st v z sc", "o io ano ino aro esto ico undo", "a ia ana ina ara esta ica etta"),
        ("l n r ll rr nd nt st v z mb sc", "ani elli ozzi ardo ese ucci iero adra ossa alto endi ioni aro etti omba"),
        ("l n r ll rr nd nt st v z m", "ano ara ezza ogna evento issa arte orno ella una ito eno aggio olo intra"),
        "ania ovia area enna estra oria ezia umbra issa ora",
    ),
    _culture(
        "b d f g h j k l n r s sk st sv t tr v kn br",
        "a e i o u ei au",
        ("l n r nn ld rk gn lm ng dd ss", "ar ulf ik und or e en vard", "a id hild run e borg dis veig"),
        ("l n r rn ng d m s", "sen berg strand dal lund vik gaard mo haug stad nes by rud holt sund"),
        ("l n r rn ng d m s v", "vik stad heim fjord sund dal nes havn borg lund berg voll skog oya mark"),
        "mark land ia rike gard oya heim",
    ),
    _culture(
        "b d g j k l m n p r s sh t v z kh ch",
        "a e i o u aa",
        ("m n r sh z rd l d b kh", "ir an ad esh im un az ov", "a eh ina ira ana ush eta ila"),
        ("m n r sh z rd l d b kh", "adi ani ouri azad oush avar emi anov ikian enda ashti ulov ebi andar oyan"),
        ("m n r sh z rd l d b kh", "abad an ur estan ash ara emir agan uz ova ashk akand irud ela ovan"),
        "istan ania eria ashan abar oran",
    ),
    _culture(
        "h k m n r s t w y sh ch f",
        "a e i o u ai",
        ("k m n r s t sh y z b", "aro ito uke ashi oru eki io unari", "iko ami ako umi ane ika eri ona"),
        ("ka mi na ra shi to ya ku sa mo ri", "wa mura saki da yama naka ri chi ta gi moto no ki ra"),
        ("ka mi na ra shi to ya ku sa mo ri", "ka wa saki hama mori ra da shi naga do ki moto ma no gi"),
        "aru ima okoku eri ano",
    ),
    _culture(
        "b d dz g k m n p r s t v z kr pr sl st vl",
        "a e i o u ie",
        ("b d l m n r sl v z dr", "oslav imir ek an il omir uk en", "oslava ena ka ita ana ilka usha ira"),
        ("b d l m n r sl v z str dr", "ovsky ak ek enko ar ik ovan ush ilov ency ota uba ein itz avec"),
        ("b d l m n r s v z", "ice ov in grad nik any ava itsa usk opol ovo inka estra yn ovar"),
        "ovia ania ava oria enia usia",
    ),
    _culture(
        "c d f g gw l m n p r rh s t tr y br bl",
        "a e i o u y ae",
        ("dd f l ll n nn r rr th w gr", "an ion yn wyn ent or eth aid", "a wen eth ys anwy il ora iad"),
        ("dd f l ll n nn r rr th gr", "ach ell eyn ogan edd is ont urra anfell awr inney arrick avon ough egan"),
        ("l ll n nn r rr s", "aber eth och dee arn mor agh lyn more fach ennan ullen avoy arick oon"),
        "ania orra ydd enn agh ora",
    ),
    _culture(
        "b d f g h j k l m n p r s t w z mb nd",
        "a e i o u",
        ("b d k l m n r s z nd mb ng", "ari eko idi osa umo uru ani ebe", "aya esha ila ola ina uma abi ela"),
        ("b d k l m n r s z nd mb ng", "anda eki oro ambe inga obi uma adeni awaya ulo efa onde iru akwa osi"),
        ("b d k l m n r s z nd mb ng", "ari ondo umba eni aka isi oru amba ela undi owe anga iro ukwe asa"),
        "anda eria osso umbia ania ewa",
    ),
)

REAL_NAMES: frozenset[str] = frozenset(
    """
    amsterdam armenia athens austria baden bavaria belgrade berlin berne bolivia bombay bordeaux boston brandon brisbane
    britain bulgaria burma cambridge canada chad chile china cornwall crimea croatia cuba dakar dallas damascus denmark
    dover dresden dublin durham egypt estonia finland florence france galicia geneva genoa germany ghana granada greece
    hamburg hanover helsinki iran iraq isfahan israel istanbul italy japan kabul karachi kenya kobe kuwait kyoto lagos
    latvia leeds leipzig libya lima lisbon lithuania london lyon madrid mali malta manila mexico milan minsk monaco
    morocco moscow moravia mumbai munich nagano nagasaki namibia naples nepal nigeria norway odessa osaka oslo oxford
    panama paris parma persia perth peru poland portugal prague romania rome russia samara samarkand saratov saxony
    scotland seattle serbia siberia sicily slovakia slovenia somalia spain stalin sudan sweden sydney syria tanzania
    tehran tibet tokyo toledo toronto trieste tunis turin turkey uganda ukraine vienna vilnius wales warsaw yokohama
    yemen zambia zurich chopin darwin dante einstein euler fermi freud galilei gandhi hitler kepler lenin lincoln mahler
    mandela marconi mozart mussolini newton nietzsche obama picasso putin shakespeare tesla tolstoy trump verdi vivaldi
    wagner washington rossini bellini puccini fellini vespucci garibaldi dickens hardy keats kurosawa murakami yamamoto
    toyota honda suzuki kawasaki nakamura tanaka nagoya fukushima hiroshima mandelstam rasputin moldova moldovia
    nazi satan penis rape cunt fuck shit slave arse anal anus
    """.split()
)
"""Invented names are never one of these (lower case): well-known real names, and words that don't belong in a book."""
