"""Half-open intervals of numbers: (start, end) holds start and not end."""


def is_empty(interval):
    start, end = interval
    return start >= end


def length(interval):
    start, end = interval
    return max(0, end - start)


def contains(interval, point):
    start, end = interval
    return start <= point < end


def overlaps(left, right):
    """Whether two intervals share a point."""
    return left[0] < right[1] and right[0] < left[1]


def intersection(left, right):
    """What both share; None where they share nothing."""
    start = max(left[0], right[0])
    end = min(left[1], right[1])
    if start >= end:
        return None
    return (start, end)


def merge(intervals):
    """The same points in as few intervals as can be, in order; those that touch become one."""
    found = []
    for start, end in sorted(intervals):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def gaps(intervals, within):
    """What of ``within`` no interval covers."""
    low, high = within
    free = []
    for start, end in merge(intervals):
        if end <= low or start >= high:
            continue
        if start > low:
            free.append((low, start))
        low = max(low, end)
    if low < high:
        free.append((low, high))
    return free


def covered(intervals):
    """How much the intervals cover together."""
    return sum(length(interval) for interval in merge(intervals))


def busiest(intervals):
    """The greatest number of intervals that hold one point."""
    events = []
    for start, end in intervals:
        if start < end:
            events.append((start, 1))
            events.append((end, -1))
    depth = most = 0
    for _, step in sorted(events):
        depth += step
        most = max(most, depth)
    return most
