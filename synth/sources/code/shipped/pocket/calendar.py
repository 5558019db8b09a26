"""Days and times without a library: dates are (year, month, day), times are minutes since midnight."""

DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in(year, month):
    if month < 1 or month > 12:
        raise ValueError("there are twelve months")
    if month == 2 and is_leap(year):
        return 29
    return DAYS[month - 1]


def day_of_year(date):
    """1 for the first of January."""
    year, month, day = date
    return sum(days_in(year, earlier) for earlier in range(1, month)) + day


def next_day(date):
    year, month, day = date
    if day < days_in(year, month):
        return (year, month, day + 1)
    if month < 12:
        return (year, month + 1, 1)
    return (year + 1, 1, 1)


def days_between(first, last):
    """Days from one date to a later one; negative where it is earlier."""
    if first > last:
        return -days_between(last, first)
    days = day_of_year(last) - day_of_year(first)
    for year in range(first[0], last[0]):
        days += 366 if is_leap(year) else 365
    return days


def weekday(date):
    """0 for Monday to 6 for Sunday."""
    return (days_between((2024, 1, 1), date)) % 7


def parse_time(text):
    """Minutes since midnight of a text such as "7:05", "19:30" or "7:05 pm"."""
    text = text.strip().lower()
    afternoon = text.endswith("pm")
    morning = text.endswith("am")
    hour, _, minute = text.removesuffix("pm").removesuffix("am").strip().partition(":")
    hours, minutes = int(hour), int(minute or "0")
    if minutes > 59 or hours > 23:
        raise ValueError("there is no such time")
    if afternoon and hours < 12:
        hours += 12
    if morning and hours == 12:
        hours = 0
    return hours * 60 + minutes


def format_time(minutes):
    """Such as "07:05"; a time past midnight begins again."""
    hours, rest = divmod(minutes % 1440, 60)
    return f"{hours:02d}:{rest:02d}"


def format_duration(minutes):
    """Such as "2 h 5 min", "45 min" or "3 h"."""
    hours, rest = divmod(minutes, 60)
    if hours and rest:
        return f"{hours} h {rest} min"
    if hours:
        return f"{hours} h"
    return f"{rest} min"


def free_slots(meetings, start, end, least=30):
    """Stretches of a day, at least so long, in which there is no meeting."""
    found = []
    at = start
    for begin, finish in sorted(meetings):
        if begin - at >= least:
            found.append((at, min(begin, end)))
        at = max(at, finish)
    if end - at >= least:
        found.append((at, end))
    return found
