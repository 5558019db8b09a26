"""Closed vocabularies of the fictional world: values that are text, and the words of which titles are made."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "ATHLETES",
    "AWARD_FIELDS",
    "GENRES_BY_OCCUPATION",
    "INDUSTRY_WORDS",
    "OCCUPATIONS",
    "ROLES",
    "ROLE_WEIGHTS",
    "TEXT_VALUES",
    "TITLE_ADJECTIVES",
    "TITLE_NOUNS",
    "TITLE_PLURALS",
]

SPORTS = ("football", "rugby", "cricket", "field hockey", "lacrosse", "baseball")

OCCUPATIONS = (
    "novelist", "poet", "playwright",
    "historian", "philosopher", "mathematician", "linguist",
    "physicist", "chemist", "botanist", "zoologist",
    "painter", "sculptor",
    "architect", "civil engineer",
    "film director", "actor", "composer", "journalist", "mountaineer", "politician",
    "industrialist", "banker", "merchant", "art historian",
    *(f"{sport} player" for sport in SPORTS),
    "long-distance runner",
)  # fmt: skip
"""Text values of ``occupation``; the array of the relation holds indexes into this."""

ROLES: Mapping[str, tuple[int, ...]] = {
    "writer": (0, 1, 2),
    "scholar": (3, 4, 5, 6),
    "scientist": (7, 8, 9, 10),
    "artist": (11, 12),
    "designer": (13, 14),
    "director": (15,),
    "actor": (16,),
    "composer": (17,),
    "journalist": (18,),
    "climber": (19,),
    "politician": (20,),
    "business": (21, 22, 23),
    "curator": (24,),
    "athlete": tuple(range(25, 25 + len(SPORTS) + 1)),
}
"""Role -> occupations. An athlete's occupation follows from the sport of the team; the last needs none."""

ROLE_WEIGHTS: Mapping[str, float] = {
    "writer": 0.14,
    "scholar": 0.10,
    "scientist": 0.12,
    "artist": 0.07,
    "designer": 0.08,
    "director": 0.06,
    "actor": 0.08,
    "composer": 0.05,
    "journalist": 0.06,
    "climber": 0.04,
    "politician": 0.06,
    "business": 0.07,
    "curator": 0.03,
    "athlete": 0.04,
}
ATHLETES = ROLES["athlete"]

AWARD_FIELDS: Mapping[str, str] = {
    "writer": "Literature",
    "scholar": "Scholarship",
    "scientist": "Science",
    "artist": "Fine Art",
    "designer": "Architecture",
    "director": "Cinema",
    "actor": "Acting",
    "composer": "Music",
    "journalist": "Journalism",
    "business": "Enterprise",
}

INDUSTRY_WORDS: Mapping[str, tuple[str, ...]] = {
    "book publishing": ("Press", "Publishing House", "Books", "Editions"),
    "film production": ("Pictures", "Film Studios", "Productions", "Cinematic Works"),
    "civil construction": ("Construction", "Building Works", "Contractors", "Bridge and Dock Works"),
    "shipping": ("Shipping", "Lines", "Freight", "Navigation"),
    "textile manufacture": ("Mills", "Textiles", "Weaving Works", "Cloth"),
    "precision instruments": ("Instruments", "Optics", "Gauges", "Scientific"),
    "brewing": ("Brewery", "Ales", "Brewing Works", "Malt"),
    "mining": ("Mines", "Minerals", "Quarries", "Ore Works"),
    "insurance": ("Insurance", "Assurance", "Mutual", "Underwriters"),
    "glass making": ("Glass", "Glassworks", "Crystal", "Lenses"),
    "electrical engineering": ("Electric", "Dynamos", "Power Works", "Cables"),
    "food processing": ("Foods", "Provisions", "Preserves", "Dairies"),
}

_BOOK_GENRES = (
    "historical novel", "crime novel", "coming-of-age novel", "adventure novel", "satirical novel",
    "verse collection", "narrative poem", "book of elegies",
    "tragedy in five acts", "comedy of manners", "one-act play",
)  # fmt: skip
GENRES_BY_OCCUPATION: tuple[tuple[int, ...], ...] = ((0, 1, 2, 3, 4), (5, 6, 7), (8, 9, 10))
"""Genres (indexes into the text values of ``genre``) of books by novelists, poets and playwrights."""

_FILM_GENRES = (
    "romantic drama", "crime thriller", "slapstick comedy", "war film", "family melodrama",
    "musical comedy", "psychological drama", "spy thriller",
)  # fmt: skip

TEXT_VALUES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("occupation", "person"): OCCUPATIONS,
    ("industry", "company"): tuple(INDUSTRY_WORDS),
    ("sport", "team"): SPORTS,
    ("collection", "museum"): (
        "painting and sculpture", "the decorative arts", "regional history", "folk art", "modern art",
        "portraiture", "prints and drawings", "the applied arts", "ceramics and glass", "ecclesiastical art",
    ),
    ("genre", "book"): _BOOK_GENRES,
    ("genre", "film"): _FILM_GENRES,
    ("medium", "artwork"): (
        "oil painting", "watercolour", "bronze relief", "charcoal drawing", "tempera panel", "coloured woodcut",
        "fresco fragment", "marble relief",
    ),
}  # fmt: skip
"""(relation, subject type) -> the texts that its values index."""

TITLE_ADJECTIVES = (
    "Salt", "Silent", "Amber", "Distant", "Hollow", "Copper", "Winter", "Broken", "Golden", "Unwritten",
    "Patient", "Northern", "Crimson", "Forgotten", "Glass", "Paper", "Restless", "Slow", "Burning", "Borrowed",
    "Quiet", "Stone", "Second", "Narrow", "Painted", "Weary", "Hidden", "Iron", "Pale", "Drifting", "Last",
    "Velvet", "Sunken", "Wandering", "Scarlet", "Faithful", "Nameless", "Midnight", "Bitter", "Lonely", "Tidal",
    "Frozen", "Honest", "Crooked", "Gentle", "Blue", "Ivory", "Ashen", "Open", "Secret", "Unquiet", "Wooden",
    "Green", "Stolen", "Long", "Harvest", "Moonlit", "Bright", "Vanishing", "Eastern",
)  # fmt: skip
TITLE_NOUNS = (
    "Harbour", "Orchard", "Lantern", "Bridge", "Letter", "Garden", "Tower", "Mirror", "River", "Season",
    "Staircase", "Clock", "Voyage", "Island", "Window", "Widow", "Mountain", "Field", "Ferryman", "Archive",
    "Bell", "Shepherd", "Road", "Cathedral", "Ledger", "Compass", "Candle", "Map", "Storm", "Tide", "Meadow",
    "Violin", "Portrait", "Cartographer", "Valley", "Lighthouse", "Threshold", "Market", "Painter", "Kingdom",
    "Inheritance", "Sparrow", "Heron", "Anchor", "Apprentice", "Weaver", "Glassmaker", "Journey", "Kitchen",
    "Library", "Promise", "Quarry", "Station", "Theatre", "Vineyard", "Winter", "Witness", "Balcony",
    "Carriage", "Causeway", "Cellar", "Daughter", "Debt", "Fountain", "Gallery", "Harvest", "House", "Key",
    "Mill", "Notebook",
)  # fmt: skip
TITLE_PLURALS = (
    "Shadows", "Rivers", "Letters", "Feathers", "Embers", "Stones", "Windows", "Lanterns", "Voices", "Ashes",
    "Harvests", "Gardens", "Mirrors", "Promises", "Sparrows", "Storms", "Tides", "Bells", "Roads", "Echoes",
    "Ladders", "Orchards", "Snows", "Questions", "Islands", "Candles", "Strangers", "Sisters", "Brothers",
    "Ghosts", "Seasons", "Maps", "Clocks", "Doors", "Masks", "Ribbons", "Thorns", "Weavers", "Wolves", "Hours",
)  # fmt: skip
