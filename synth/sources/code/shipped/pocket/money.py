"""Amounts of money in whole cents."""


def parse_amount(text):
    """Cents in a text such as "12.50", "-3" or "1,299.95"."""
    cleaned = text.strip().replace(",", "")
    if not cleaned:
        raise ValueError("no amount")
    negative = cleaned.startswith("-")
    if negative:
        cleaned = cleaned[1:]
    whole, point, cents = cleaned.partition(".")
    if point and len(cents) > 2:
        raise ValueError(f"more than two digits behind the point: {text!r}")
    value = int(whole or "0") * 100 + int(cents.ljust(2, "0") or "0")
    return -value if negative else value


def format_amount(cents, symbol=""):
    """The amount as text, with a comma between thousands."""
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return f"{sign}{symbol}{whole:,}.{rest:02d}"


def split_evenly(cents, parts):
    """Shares that differ by at most one cent and sum to the amount; the larger ones come first."""
    if parts < 1:
        raise ValueError("at least one part")
    share, left = divmod(cents, parts)
    return [share + 1 if number < left else share for number in range(parts)]


def add_tax(cents, percent):
    """The amount with tax, rounded half up to a whole cent."""
    return cents + (cents * percent + 50) // 100


def discount(cents, percent, minimum=0):
    """The amount less a discount, but never below the minimum."""
    if percent < 0 or percent > 100:
        raise ValueError("a discount is between 0 and 100 percent")
    reduced = cents - cents * percent // 100
    return max(reduced, minimum)


def change(due, paid, coins=(200, 100, 50, 20, 10, 5, 2, 1)):
    """The coins that are given back, the largest first."""
    if paid < due:
        raise ValueError("not enough was paid")
    left = paid - due
    given = []
    for coin in coins:
        while left >= coin:
            given.append(coin)
            left -= coin
    return given
