"""Routes in a network: place -> {neighbour: distance}."""

from heapq import heappop, heappush


def places(network):
    """All places, also those that are only reached."""
    found = set(network)
    for neighbours in network.values():
        found.update(neighbours)
    return sorted(found)


def reachable(network, start):
    """All places that can be reached from a start, itself among them."""
    seen = {start}
    waiting = [start]
    while waiting:
        place = waiting.pop()
        for neighbour in network.get(place, {}):
            if neighbour not in seen:
                seen.add(neighbour)
                waiting.append(neighbour)
    return sorted(seen)


def shortest(network, start, goal):
    """(distance, places on the way) of a shortest route; None where there is no route."""
    best = {}
    waiting = [(0, start, [start])]
    while waiting:
        distance, place, way = heappop(waiting)
        if place == goal:
            return distance, way
        if place in best and best[place] <= distance:
            continue
        best[place] = distance
        for neighbour, further in sorted(network.get(place, {}).items()):
            if further < 0:
                raise ValueError("a distance is never negative")
            heappush(waiting, (distance + further, neighbour, way + [neighbour]))
    return None


def hops(network, start, goal):
    """The least number of steps from start to goal; -1 where there is no way."""
    level = [start]
    seen = {start}
    steps = 0
    while level:
        if goal in level:
            return steps
        further = []
        for place in level:
            for neighbour in network.get(place, {}):
                if neighbour not in seen:
                    seen.add(neighbour)
                    further.append(neighbour)
        level = further
        steps += 1
    return -1


def order(needs):
    """Tasks (task -> what must be done before it) in an order that works, by name where there is a choice."""
    left = {task: set(before) for task, before in needs.items()}
    for before in needs.values():
        for task in before:
            left.setdefault(task, set())
    found = []
    while left:
        ready = sorted(task for task, before in left.items() if not before)
        if not ready:
            raise ValueError("the tasks wait for each other")
        first = ready[0]
        found.append(first)
        del left[first]
        for before in left.values():
            before.discard(first)
    return found


def degree(network, place):
    """How many ways lead from and to a place."""
    out = len(network.get(place, {}))
    into = sum(1 for neighbours in network.values() if place in neighbours)
    return out + into
