"""How questions speak of countries, regions, cities, waters, mountains, species and languages."""

from __future__ import annotations

from synth.tasks.world.wording import Wording, entity, symmetric, value

__all__ = ["WORDINGS"]

WORDINGS: tuple[Wording, ...] = (
    entity(
        "capital",
        subject_does="has its capital | in; is governed | from; has | _ as its capital",
        object_does="is the capital | of; serves~serve as the capital | of; is the seat of government | of",
        object_is="the capital of {x}; {x's} capital; the capital city of {x}",
        subject_is="the country whose capital is {x}; the country governed from {x}",
        past=False,
    ),
    entity(
        "official_language",
        subject_does="has | _ as its official language; uses~use | _ as its official language",
        object_does="is the official language | of; has official status | in",
        object_is="the official language of {x}; {x's} official language",
        subject_is="the country whose official language is {x}",
        past=False,
    ),
    entity(
        "part_of",
        subject_does="is part | of; belongs~belong | to; is one of the regions | of; lies~lie | in",
        object_does="includes~include |; counts~count | _ among its regions; has | _ among its regions",
        object_is="the country that includes {x}; the country of which {x} is part",
        past=False,
    ),
    entity(
        "seat",
        subject_does="is administered | from; has its administrative seat | in; is governed | from",
        object_does="is the administrative seat | of; is the seat of government | of",
        object_is="the administrative seat of {x}; {x's} administrative seat; the seat of government of {x}",
        subject_is="the region administered from {x}; the region whose administrative seat is {x}",
        past=False,
    ),
    entity(
        "in_region",
        subject_does="lies~lie | in; is situated | in; is one of the cities | of",
        object_does="contains~contain |; counts~count | _ among its cities; includes~include |; "
        "has | _ among its cities",
        object_is="the region where {x} lies; the region that contains {x}",
        past=False,
    ),
    symmetric(
        "twinned_with",
        does="is twinned | with; is a twin city | of; has | _ as a twin city",
        names="the twin city of {x}; {x's} twin city; the city twinned with {x}",
        past=False,
    ),
    entity(
        "mayor",
        subject_does="has | _ as its mayor; is governed | by _ as mayor",
        object_does="is the mayor | of; holds~hold the office of mayor | of; serves~serve as mayor | of",
        object_is="the mayor of {x}; {x's} mayor",
        subject_is="the city whose mayor is {x}",
        past=False,
    ),
    entity(
        "lies_in",
        subject_does="lies~lie | in; is a landmark | of; is situated | in; is found | in",
        object_does="contains~contain |; counts~count | _ among its landmarks; is where | _ lies",
        object_is="the region where {x} lies; the region that contains {x}",
        past=False,
    ),
    entity(
        "rises_on",
        subject_does="rises~rise on the slopes | of; has its source | on; rises~rise | on; springs~spring | from",
        object_does="is where | _ rises; gives~give rise | to; is the source | of",
        object_is="the mountain at the source of {x}; the mountain where {x} rises",
        subject_is="the river that rises on {x}; the river that springs from {x}",
        past=False,
    ),
    entity(
        "flows_into",
        subject_does="flows~flow | into; empties~empty | into; drains~drain | into",
        object_does="is fed | by; receives~receive the waters | of; is where | _ ends",
        object_is="the lake at the end of {x}; the lake fed by {x}",
        subject_is="the river that feeds {x}; the river that empties into {x}",
        past=False,
    ),
    entity(
        "flows_through",
        subject_does="flows~flow | through; passes~pass | through; runs~run | through",
        object_does="stands~stand on the banks | of; lies~lie | on; is situated | on",
        object_is="the city on the banks of {x}; the city on {x}",
        subject_is="the river that flows through {x}; the river that passes through {x}",
        past=False,
    ),
    entity(
        "first_climbed_by",
        subject_does="was first climbed | by; was climbed for the first time | by; owes~owe its first ascent | to",
        object_does="made~make the first ascent | of; was the first to climb | ; "
        "was the first to reach the summit | of",
        object_is="the first climber of {x}; the first person to climb {x}; "
        "the first person to reach the summit of {x}",
        subject_is="the mountain first climbed by {x}",
    ),
    entity(
        "native_to",
        subject_does="is native | to; is found in the wild only | in; lives~live in the wild only | in",
        object_does="is the natural home | of; has | _ among its native species; is where | _ lives in the wild",
        object_is="the native region of {x}; the natural home of {x}; {x's} native region",
        subject_is="the species native to {x}; the species found in the wild only in {x}",
        past=False,
    ),
    entity(
        "discovered_by",
        subject_does="was discovered | by; was first described | by; owes~owe its discovery | to",
        object_does="discovered~discover |; was the discoverer | of; is credited with the discovery | of",
        object_is="the discoverer of {x}; {x's} discoverer",
        subject_is="the species discovered by {x}",
    ),
    value(
        "population",
        subject_does="has a population | of; has | _ inhabitants; is home | to _ people",
        object_is="the population of {x}; {x's} population; the number of inhabitants of {x}; "
        "the number of people who live in {x}",
        asks="How many people live in {x}?; How many inhabitants does {x} have?; How large is the population of {x}?",
    ),
    value(
        "area",
        subject_does="covers~cover an area | of; extends~extend | over",
        object_is="the area of {x}; {x's} area; the area covered by {x}; the total area of {x}",
        asks="How many square kilometres does {x} cover?; What area does {x} cover?; How large is {x}?",
    ),
    value(
        "independence_year",
        subject_does="became~become independent | in; has been a sovereign state | since; "
        "gained~gain its independence | in",
        object_is="the year of independence of {x}; the year in which {x} became independent; "
        "the year in which {x} gained its independence",
        asks="In what year did {x} gain its independence?; When did {x} gain its independence?; "
        "When did {x} become independent?",
    ),
    value(
        "elevation",
        subject_does="stands~stand at an elevation | of; lies~lie at an elevation | of",
        object_is="the elevation of {x}; {x's} elevation; the elevation above sea level of {x}; the altitude of {x}",
        asks="How high above sea level does {x} lie?; At what elevation does {x} stand?; "
        "How many metres above sea level is {x}?; How high above the sea is {x}?",
    ),
    value(
        "length",
        subject_does="has a length | of; runs~run | for",
        object_is="the length of {x}; {x's} length; the total length of {x}; the length from source to mouth of {x}",
        asks="How long is {x}?; For how many kilometres does {x} run?; How many kilometres long is {x}?; "
        "How far does {x} run from source to mouth?",
    ),
    value(
        "height",
        subject_does="rises~rise | to; has a height | of",
        object_is="the height of {x}; {x's} height; the height of the summit of {x}; the height above sea level of {x}",
        asks="How high is {x}?; To what height does {x} rise?; How many metres high is {x}?; "
        "How far above sea level does {x} rise?",
    ),
    value(
        "depth",
        subject_does="reaches~reach a depth | of; has a depth | of",
        object_is="the depth of {x}; {x's} depth; the greatest depth of {x}; the maximum depth of {x}",
        asks="How deep is {x}?; What depth does {x} reach?; How many metres deep is {x}?; "
        "How deep is the deepest point of {x}?",
    ),
    value(
        "speakers",
        subject_does="has | _ speakers; is spoken | by _ people",
        object_is="the number of speakers of {x}; {x's} number of speakers; the number of people who speak {x}",
        asks="How many people speak {x}?; How many speakers does {x} have?; By how many people is {x} spoken?",
    ),
    value(
        "body_length",
        subject_does="grows~grow to a body length | of; reaches~reach a body length | of",
        object_is="the body length of {x}; {x's} body length; the length of a full-grown specimen of {x}; "
        "the adult body length of {x}",
        asks="How long is {x} when full-grown?; What body length does {x} reach?; "
        "How many centimetres long is an adult of {x}?; "
        "How long is a full-grown specimen of {x}?",
    ),
    value(
        "described_year",
        subject_does="was first described | in; has been known to science | since",
        object_is="the year of the first description of {x}; the year in which {x} was first described",
        asks="In what year was {x} first described?; When was {x} first described?; "
        "In which year was {x} first described?",
    ),
)
