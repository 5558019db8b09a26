"""Numbers: numerals, statistics, sequences."""

NUMERALS = (
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
)


def to_roman(number):
    """The Roman numeral of 1 to 3999."""
    if number < 1 or number > 3999:
        raise ValueError("from 1 to 3999")
    found = ""
    for value, numeral in NUMERALS:
        while number >= value:
            found += numeral
            number -= value
    return found


def from_roman(text):
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total = 0
    before = 0
    for sign in reversed(text.upper()):
        value = values[sign]
        if value < before:
            total -= value
        else:
            total += value
            before = value
    return total


def ordinal(number):
    """Such as "1st", "22nd", "13th"."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{endings.get(number % 10, 'th')}"


def median(values):
    """The middle value; of an even number of values, the mean of the middle two."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2 == 1:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def moving_average(values, size):
    """Means of every ``size`` values that follow each other."""
    if size < 1:
        raise ValueError("size is at least 1")
    return [sum(values[at : at + size]) / size for at in range(len(values) - size + 1)]


def chunks(values, size):
    """Lists of ``size`` values; the last may be shorter."""
    if size < 1:
        raise ValueError("size is at least 1")
    return [values[at : at + size] for at in range(0, len(values), size)]


def runs(values):
    """(value, how often) for each stretch of equal values."""
    found = []
    for value in values:
        if found and found[-1][0] == value:
            found[-1] = (value, found[-1][1] + 1)
        else:
            found.append((value, 1))
    return found


def digits(number, base=10):
    """The digits of a number, the most significant first."""
    if base < 2:
        raise ValueError("a base is at least 2")
    if number == 0:
        return [0]
    found = []
    while number > 0:
        number, digit = divmod(number, base)
        found.append(digit)
    return found[::-1]


def clamp(value, low, high):
    if low > high:
        raise ValueError("low is above high")
    return max(low, min(value, high))


def rank(scores):
    """Name -> place, from 1; equal scores share a place, and the next one is left out."""
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    places = {}
    place = 0
    before = None
    for number, (name, score) in enumerate(ordered, start=1):
        if score != before:
            place = number
            before = score
        places[name] = place
    return places
