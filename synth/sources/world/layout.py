"""How a page is laid out: opening sentences per type, and which relation is told in which section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from synth.sources.world.relation import Joint

__all__ = ["GENERAL", "LEADS", "SECTIONS", "SectionPlan"]


@dataclass(frozen=True)
class SectionPlan:
    """One section: a heading is drawn, the relations that apply are told, in order unless ``free``."""

    headings: tuple[str, ...]
    relations: tuple[str, ...]
    free: bool = True


def _lead(relations: str, *sentences: str) -> Joint:
    return Joint(tuple(relations.split()), sentences)


LEADS: Mapping[str, tuple[Joint, ...]] = {
    "country": (
        _lead(
            "capital",
            "{s} is a country with its capital at {o}.",
            "{s} is a sovereign country whose capital is {o}.",
            "{s} is an independent country governed from its capital, {o}.",
        ),
        _lead("capital population", "{s} is a country of {o2} people with its capital at {o}."),
    ),
    "language": (
        _lead(
            "speakers",
            "{s} is a language spoken by {o} people.",
            "{s} is a living language with {o} speakers.",
            "{s} is a language used daily by {o} people.",
        ),
    ),
    "award": (
        _lead(
            "first_awarded",
            "{s} is an award that was first awarded in {o}.",
            "{s} is a distinction with a history that goes back to {o}, when it was first awarded.",
            "{s} is an honour for outstanding work, first awarded in {o}.",
        ),
        _lead("presented_by first_awarded", "{s} is an award presented by {o} and first awarded in {o2}."),
    ),
    "region": (
        _lead(
            "part_of",
            "{s} is a region of {o}.",
            "{s} is one of the regions of {o}.",
            "{s} is an administrative region in {o}.",
        ),
        _lead("part_of area", "{s} is a region of {o} with an area of {o2}."),
    ),
    "city": (
        _lead(
            "in_region",
            "{s} is a city in {o}.",
            "{s} is a city in the region of {o}.",
            "{s} is one of the cities of {o}.",
        ),
        _lead("in_region population", "{s} is a city of {o2} inhabitants in {o}."),
    ),
    "river": (
        _lead("rises_on", "{s} is a river that rises on {o}.", "{s} is a river with its source on {o}."),
        _lead("flows_into", "{s} is a river that flows into {o}.", "{s} is a tributary of {o}."),
        _lead("rises_on flows_into", "{s} is a river that rises on {o} and flows into {o2}."),
    ),
    "mountain": (
        _lead("lies_in", "{s} is a mountain in {o}.", "{s} is a peak in the region of {o}."),
        _lead("lies_in height", "{s} is a mountain of {o2} in {o}.", "{s} is a peak in {o} that rises to {o2}."),
    ),
    "lake": (
        _lead("lies_in", "{s} is a lake in {o}.", "{s} is a freshwater lake in the region of {o}."),
        _lead("lies_in area", "{s} is a lake in {o} with an area of {o2}."),
    ),
    "species": (
        _lead(
            "native_to",
            "{s} is a species native to {o}.",
            "{s} is an animal whose natural range is confined to {o}.",
            "{s} is a species found in the wild only in {o}.",
        ),
    ),
    "person": (
        _lead("occupation citizen_of", "{s} {is} {an} {o} from {o2}.", "{s} {is} {an} {o} and a citizen of {o2}."),
        _lead("occupation", "{s} {is} {an} {o}."),
        _lead("occupation born_in", "{s} {is} {an} {o} born in {o2}."),
    ),
    "university": (
        _lead("located_in", "{s} is a university in {o}.", "{s} is an institution of higher education in {o}."),
        _lead("located_in founding_year", "{s} is a university in {o}, founded in {o2}."),
        _lead("located_in student_count", "{s} is a university in {o} with {o2} students."),
    ),
    "company": (
        _lead(
            "industry headquartered_in",
            "{s} is a company active in {o}, with its headquarters in {o2}.",
            "{s} is a firm headquartered in {o2} whose business is {o}.",
            "{s} is an enterprise based in {o2} that specialises in {o}.",
        ),
        _lead("industry founding_year", "{s} is a company founded in {o2} and active in {o}."),
    ),
    "laboratory": (
        _lead("located_in", "{s} is a scientific laboratory in {o}.", "{s} is a research institution in {o}."),
        _lead("located_in founding_year", "{s} is a research laboratory in {o}, founded in {o2}."),
        _lead("located_in affiliated_with", "{s} is a laboratory in {o} affiliated with {o2}."),
    ),
    "newspaper": (
        _lead(
            "headquartered_in",
            "{s} is a newspaper headquartered in {o}.",
            "{s} is a daily newspaper run from {o}.",
        ),
        _lead("headquartered_in founding_year", "{s} is a daily newspaper in {o}, founded in {o2}."),
        _lead("headquartered_in circulation", "{s} is a newspaper in {o} with a daily circulation of {o2}."),
    ),
    "museum": (
        _lead("located_in", "{s} is a museum in {o}.", "{s} is a public museum in the city of {o}."),
        _lead("located_in collection", "{s} is a museum of {o2} in {o}."),
        _lead("collection located_in", "{s} is a museum devoted to {o}, located in {o2}."),
    ),
    "team": (
        _lead("sport", "{s} is {an} {o} team.", "{s} is a team that plays {o}."),
        _lead("sport home_city", "{s} is {an} {o} team based in {o2}.", "{s} is {an} {o} side from {o2}."),
        _lead("sport founding_year", "{s} is {an} {o} team founded in {o2}."),
    ),
    "stadium": (
        _lead("located_in", "{s} is a stadium in {o}.", "{s} is a sports ground in the city of {o}."),
        _lead("located_in capacity", "{s} is a stadium in {o} with a capacity of {o2}."),
        _lead("located_in opening_year", "{s} is a stadium in {o}, opened in {o2}."),
    ),
    "bridge": (
        _lead("located_in", "{s} is a bridge in {o}.", "{s} is a road bridge in the city of {o}."),
        _lead("crosses located_in", "{s} is a bridge over {o} in {o2}.", "{s} is a bridge that crosses {o} in {o2}."),
        _lead("located_in opening_year", "{s} is a bridge in {o}, opened in {o2}."),
    ),
    "festival": (
        _lead("held_in", "{s} is a festival held in {o}.", "{s} is a yearly cultural festival in {o}."),
        _lead("held_in founding_year", "{s} is a festival held in {o}, founded in {o2}."),
        _lead("founded_by held_in", "{s} is a festival founded by {o} and held every year in {o2}."),
    ),
    "book": (
        _lead("genre author", "{s} is {an} {o} by {o2}.", "{s} is {an} {o} written by {o2}."),
        _lead("genre publication_year", "{s} is {an} {o} published in {o2}."),
        _lead("author", "{s} is a book by {o}."),
    ),
    "film": (
        _lead("genre director", "{s} is {an} {o} directed by {o2}.", "{s} is {an} {o} by the director {o2}."),
        _lead("genre release_year", "{s} is {an} {o} released in {o2}."),
        _lead("director", "{s} is a film directed by {o}."),
    ),
    "artwork": (
        _lead("medium creator", "{s} is {an} {o} by {o2}.", "{s} is {an} {o} created by {o2}."),
        _lead("medium completion_year", "{s} is {an} {o} completed in {o2}."),
        _lead("creator displayed_in", "{s} is an artwork by {o}, displayed in {o2}."),
    ),
}
"""Entity type -> sentences that open a page and say what the entity is. Each starts with ``{s}``."""


def _plan(headings: str, relations: str, *, free: bool = True) -> SectionPlan:
    return SectionPlan(tuple(headings.split(" / ")), tuple(relations.split()), free)


SECTIONS: Mapping[str, tuple[SectionPlan, ...]] = {
    "country": (
        _plan("Geography / Land and people / Landscape", "population area has_region"),
        _plan("Government / Politics / State", "capital official_language independence_year"),
        _plan("Culture / Everyday life", ""),
    ),
    "language": (
        _plan("Speakers / Distribution", "official_language_of speakers"),
        _plan("Writing and grammar / Structure / Features", ""),
    ),
    "award": (
        _plan("History / Origin / Foundation", "named_after presented_by first_awarded"),
        _plan("Recipients / Winners / Laureates", "winner"),
    ),
    "region": (
        _plan("Geography / Landscape / Nature", "part_of area native_species"),
        _plan("Cities and administration / Administration / Settlements", "seat has_city"),
    ),
    "city": (
        _plan("Geography / Location / Setting", "in_region population elevation on_river"),
        _plan("History and government / History / Government", "founding_year mayor capital_of seat_of twinned_with"),
        _plan(
            "Culture and economy / Culture / City life",
            "site_of headquarters_of home_of_team hosts_festival setting_of",
        ),
        _plan("Notable people / People", "birthplace_of deathplace_of"),
    ),
    "river": (
        _plan("Course / Geography", "rises_on length flows_through flows_into", free=False),
        _plan("Crossings / Use / Banks and bridges", "crossed_by"),
    ),
    "mountain": (
        _plan("Geography / Location / Geology", "lies_in height source_of"),
        _plan("Ascents / Climbing / Mountaineering", "first_climbed_by"),
    ),
    "lake": (
        _plan("Geography / Location / Size", "lies_in area depth"),
        _plan("Hydrology / Waters / Nature", "fed_by"),
    ),
    "species": (
        _plan("Description / Appearance / Biology", "native_to body_length"),
        _plan("Discovery / History of research / Taxonomy", "discovered_by described_year"),
    ),
    "person": (
        _plan(
            "Early life / Early years / Origins and education",
            "born_in birth_date child_of citizen_of studied_at mentor",
            free=False,
        ),
        _plan(
            "Career / Work / Professional life",
            "taught_at worked_at employed_by wrote_for played_for predecessor mayor_of rector_of curator_of editor_of "
            "coaches founder_of wrote directed starred_in scored created designed discovered first_climbed mentored "
            "successor",
        ),
        _plan("Personal life / Family / Later life", "spouse parent_of died_in death_date", free=False),
        _plan("Recognition / Honours / Legacy", "won namesake_of depicted_in dedicatee_of"),
    ),
    "university": (
        _plan("History / Foundation / Origins", "located_in founded_by founding_year"),
        _plan("Organisation / Institution / Campus", "rector student_count affiliate presents"),
        _plan("People / Notable members / Alumni and faculty", "educated taught_by"),
    ),
    "company": (
        _plan("History / Foundation / Origins", "founded_by founding_year headquartered_in"),
        _plan(
            "Business / Operations / Activities",
            "employee_count parent_company subsidiary published produced built sponsors owner_of employed",
        ),
    ),
    "laboratory": (
        _plan("History / Foundation / Origins", "located_in founded_by founding_year named_after"),
        _plan("Research / Organisation / Work", "affiliated_with staffed_by"),
    ),
    "newspaper": (
        _plan("History / Foundation / Origins", "headquartered_in founded_by founding_year"),
        _plan("Ownership and staff / The paper today / Organisation", "owned_by circulation editor contributor"),
    ),
    "museum": (
        _plan("History / Building and history / Origins", "located_in founded_by founding_year designed_by"),
        _plan("Collection / Exhibits / Holdings", "collection curator displays"),
    ),
    "team": (
        _plan("History / Origins", "founding_year sponsored_by"),
        _plan("Ground / Home / Matches", "home_city home_ground"),
        _plan("Coaches and players / Squad / People", "coach player"),
    ),
    "stadium": (
        _plan("Construction / History / Building", "located_in designed_by opening_year built_by named_after"),
        _plan("Use / Events / Matches", "capacity tenant"),
    ),
    "bridge": (
        _plan("Construction / History / Building", "designed_by opening_year built_by"),
        _plan("Description / Location / Structure", "located_in crosses bridge_length"),
    ),
    "festival": (
        _plan("History / Origins / Foundation", "held_in founded_by founding_year"),
        _plan("Programme / Organisation / Events", "sponsored_by"),
    ),
    "book": (
        _plan(
            "Publication / History / Editions", "author publisher page_count publication_year written_in dedicated_to"
        ),
        _plan("Content / Plot and setting / Themes", "set_in"),
        _plan("Reception / Influence / Afterlife", "adapted_into"),
    ),
    "film": (
        _plan("Production / Making", "director adapted_from produced_by composer starring"),
        _plan("Release / Reception / Screenings", "release_year running_time set_in"),
    ),
    "artwork": (
        _plan("History / Origin / Creation", "creator completion_year displayed_in"),
        _plan("Subject / Description / Motif", "depicts"),
    ),
}
"""Entity type -> sections. Genre, medium and such are told by the opening, or else where they are missing."""

GENERAL: Mapping[str, int] = {
    **dict.fromkeys(SECTIONS, 1),
    **dict.fromkeys(("region", "river", "mountain", "lake", "species", "film", "artwork"), 0),
    **dict.fromkeys(("country", "city"), 2),
}
"""Entity type -> the section (its place in ``SECTIONS``) whose topic filler suits best."""
