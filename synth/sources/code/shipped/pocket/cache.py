"""A cache that forgets what was not asked for longest, and a queue with priorities."""


class Cache:
    """At most ``size`` values by key."""

    def __init__(self, size=3):
        if size < 1:
            raise ValueError("size is at least 1")
        self.size = size
        self.hits = 0
        self.misses = 0
        self._values = {}

    def put(self, key, value):
        if key in self._values:
            del self._values[key]
        elif len(self._values) >= self.size:
            oldest = next(iter(self._values))
            del self._values[oldest]
        self._values[key] = value

    def get(self, key, default=None):
        if key not in self._values:
            self.misses += 1
            return default
        self.hits += 1
        value = self._values.pop(key)
        self._values[key] = value
        return value

    def keys(self):
        """From the one that is forgotten first."""
        return list(self._values)

    def rate(self):
        """Share of the gets that found something."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0


class Queue:
    """Takes out the smallest priority first; among equals, what came first."""

    def __init__(self):
        self._items = []
        self._number = 0

    def push(self, item, priority=0):
        self._items.append((priority, self._number, item))
        self._number += 1

    def pop(self):
        if not self._items:
            raise IndexError("the queue is empty")
        first = min(self._items)
        self._items.remove(first)
        return first[2]

    def __len__(self):
        return len(self._items)


def served(jobs, workers=1):
    """When each job (name, minutes) is done, where they are given out in order to who is free first."""
    free = [0] * workers
    done = {}
    for name, minutes in jobs:
        at = free.index(min(free))
        free[at] += minutes
        done[name] = free[at]
    return done


def remember(function, size=100):
    """The function, with a cache of its results by its one argument."""
    cache = Cache(size)
    missing = object()

    def call(argument):
        value = cache.get(argument, missing)
        if value is missing:
            value = function(argument)
            cache.put(argument, value)
        return value

    call.cache = cache
    return call
