import unittest

from pocket.routes import degree, hops, order, places, reachable, shortest

ROADS = {"a": {"b": 4, "c": 1}, "b": {"d": 1}, "c": {"b": 2, "d": 7}, "d": {}, "e": {"a": 3}}


class Routes(unittest.TestCase):
    def test_places(self):
        self.assertEqual(places({"a": {"z": 1}, "m": {}}), ["a", "m", "z"])

    def test_reachable(self):
        self.assertEqual(reachable(ROADS, "a"), ["a", "b", "c", "d"])

    def test_reachable_end(self):
        self.assertEqual(reachable(ROADS, "d"), ["d"])

    def test_shortest(self):
        self.assertEqual(shortest(ROADS, "a", "d"), (4, ["a", "c", "b", "d"]))

    def test_shortest_direct(self):
        self.assertEqual(shortest(ROADS, "c", "b"), (2, ["c", "b"]))

    def test_shortest_itself(self):
        self.assertEqual(shortest(ROADS, "a", "a"), (0, ["a"]))

    def test_shortest_none(self):
        self.assertIsNone(shortest(ROADS, "d", "a"))

    def test_shortest_circle(self):
        self.assertEqual(shortest({"a": {"b": 0}, "b": {"a": 0, "c": 5}}, "a", "c"), (5, ["a", "b", "c"]))

    def test_free_road(self):
        self.assertEqual(shortest({"a": {"b": 0}}, "a", "b"), (0, ["a", "b"]))

    def test_negative(self):
        with self.assertRaises(ValueError):
            shortest({"a": {"b": -1}}, "a", "b")

    def test_hops(self):
        self.assertEqual(hops(ROADS, "e", "d"), 3)

    def test_no_hops(self):
        self.assertEqual(hops(ROADS, "a", "a"), 0)

    def test_no_way(self):
        self.assertEqual(hops(ROADS, "d", "e"), -1)

    def test_order(self):
        self.assertEqual(
            order({"roof": ["wall"], "wall": ["floor"], "door": ["wall"]}), ["floor", "wall", "door", "roof"]
        )

    def test_order_by_name(self):
        self.assertEqual(order({"b": [], "a": []}), ["a", "b"])

    def test_order_circle(self):
        with self.assertRaises(ValueError):
            order({"a": ["b"], "b": ["a"]})

    def test_degree(self):
        self.assertEqual(degree(ROADS, "b"), 3)

    def test_degree_alone(self):
        self.assertEqual(degree(ROADS, "x"), 0)
