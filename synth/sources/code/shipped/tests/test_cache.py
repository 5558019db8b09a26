import unittest

from pocket.cache import Cache, Queue, remember, served


def filled(size, keys):
    cache = Cache(size)
    for key in keys:
        cache.put(key, key * 10)
    return cache


class Caching(unittest.TestCase):
    def test_get(self):
        self.assertEqual(filled(3, [1, 2]).get(2), 20)

    def test_get_default(self):
        self.assertEqual(filled(3, [1]).get(9, "none"), "none")

    def test_forgets_oldest(self):
        self.assertEqual(filled(2, [1, 2, 3]).keys(), [2, 3])

    def test_put_again(self):
        self.assertEqual(filled(2, [1, 2, 1]).keys(), [2, 1])

    def test_get_keeps(self):
        cache = filled(2, [1, 2])
        cache.get(1)
        cache.put(3, 30)
        self.assertEqual(cache.keys(), [1, 3])

    def test_size(self):
        with self.assertRaises(ValueError):
            Cache(0)

    def test_rate(self):
        cache = filled(2, [1])
        cache.get(1)
        cache.get(2)
        cache.get(1)
        cache.get(1)
        self.assertEqual(cache.rate(), 0.75)

    def test_no_rate(self):
        self.assertEqual(Cache().rate(), 0.0)

    def test_remember(self):
        asked = []
        double = remember(lambda n: asked.append(n) or n * 2)
        self.assertEqual([double(2), double(2), double(3)], [4, 4, 6])
        self.assertEqual(asked, [2, 3])


class Queueing(unittest.TestCase):
    def test_priority(self):
        queue = Queue()
        queue.push("late", 5)
        queue.push("soon", 1)
        self.assertEqual([queue.pop(), queue.pop()], ["soon", "late"])

    def test_in_order(self):
        queue = Queue()
        queue.push("b")
        queue.push("a")
        self.assertEqual(queue.pop(), "b")

    def test_length(self):
        queue = Queue()
        queue.push("x")
        self.assertEqual(len(queue), 1)

    def test_empty(self):
        with self.assertRaises(IndexError):
            Queue().pop()

    def test_served(self):
        self.assertEqual(served([("a", 5), ("b", 3), ("c", 4)], 2), {"a": 5, "b": 3, "c": 7})

    def test_served_alone(self):
        self.assertEqual(served([("a", 5), ("b", 3)]), {"a": 5, "b": 8})
