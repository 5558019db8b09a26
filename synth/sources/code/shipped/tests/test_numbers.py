import unittest

from pocket.numbers import chunks, clamp, digits, from_roman, median, moving_average, ordinal, rank, runs, to_roman


class Numerals(unittest.TestCase):
    def test_to_roman(self):
        self.assertEqual(to_roman(1994), "MCMXCIV")

    def test_to_roman_small(self):
        self.assertEqual(to_roman(1), "I")

    def test_to_roman_largest(self):
        self.assertEqual(to_roman(3999), "MMMCMXCIX")

    def test_no_roman(self):
        with self.assertRaises(ValueError):
            to_roman(0)

    def test_too_large(self):
        with self.assertRaises(ValueError):
            to_roman(4000)

    def test_from_roman(self):
        self.assertEqual(from_roman("mcmxciv"), 1994)

    def test_from_roman_equal(self):
        self.assertEqual(from_roman("III"), 3)

    def test_from_roman_nested(self):
        self.assertEqual(from_roman("XLIX"), 49)

    def test_ordinal(self):
        self.assertEqual([ordinal(n) for n in (1, 2, 3, 4)], ["1st", "2nd", "3rd", "4th"])

    def test_ordinal_teens(self):
        self.assertEqual(ordinal(112), "112th")

    def test_ordinal_twenties(self):
        self.assertEqual(ordinal(22), "22nd")

    def test_digits(self):
        self.assertEqual(digits(305), [3, 0, 5])

    def test_digits_binary(self):
        self.assertEqual(digits(6, 2), [1, 1, 0])

    def test_digits_zero(self):
        self.assertEqual(digits(0), [0])

    def test_digits_base(self):
        with self.assertRaises(ValueError):
            digits(5, 1)


class Values(unittest.TestCase):
    def test_median_odd(self):
        self.assertEqual(median([9, 1, 5]), 5)

    def test_median_even(self):
        self.assertEqual(median([4, 1, 3, 2]), 2.5)

    def test_median_none(self):
        with self.assertRaises(ValueError):
            median([])

    def test_moving_average(self):
        self.assertEqual(moving_average([1, 3, 5, 7], 2), [2.0, 4.0, 6.0])

    def test_moving_average_whole(self):
        self.assertEqual(moving_average([1, 2, 3], 3), [2.0])

    def test_moving_average_size(self):
        with self.assertRaises(ValueError):
            moving_average([1, 2], 0)

    def test_chunks(self):
        self.assertEqual(chunks([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]])

    def test_chunks_size(self):
        with self.assertRaises(ValueError):
            chunks([1], 0)

    def test_chunks_of_one(self):
        self.assertEqual(chunks([1, 2], 1), [[1], [2]])

    def test_runs(self):
        self.assertEqual(runs("aabcc"), [("a", 2), ("b", 1), ("c", 2)])

    def test_no_runs(self):
        self.assertEqual(runs([]), [])

    def test_clamp_low(self):
        self.assertEqual(clamp(-4, 0, 10), 0)

    def test_clamp_high(self):
        self.assertEqual(clamp(14, 0, 10), 10)

    def test_clamp_inside(self):
        self.assertEqual(clamp(4, 0, 10), 4)

    def test_clamp_equal(self):
        self.assertEqual(clamp(7, 3, 3), 3)

    def test_clamp_bounds(self):
        with self.assertRaises(ValueError):
            clamp(1, 5, 2)

    def test_rank(self):
        self.assertEqual(rank({"ann": 9, "bob": 7, "cy": 9, "di": 3}), {"ann": 1, "cy": 1, "bob": 3, "di": 4})
