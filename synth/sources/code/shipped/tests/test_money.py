import unittest

from pocket.money import add_tax, change, discount, format_amount, parse_amount, split_evenly


class Parsing(unittest.TestCase):
    def test_whole(self):
        self.assertEqual(parse_amount("12"), 1200)

    def test_cents(self):
        self.assertEqual(parse_amount("12.50"), 1250)

    def test_one_digit(self):
        self.assertEqual(parse_amount("0.5"), 50)

    def test_negative(self):
        self.assertEqual(parse_amount(" -3.25 "), -325)

    def test_thousands(self):
        self.assertEqual(parse_amount("1,299.95"), 129995)

    def test_no_whole(self):
        self.assertEqual(parse_amount(".75"), 75)

    def test_empty(self):
        with self.assertRaises(ValueError):
            parse_amount("  ")

    def test_three_digits(self):
        with self.assertRaises(ValueError):
            parse_amount("1.234")


class Formatting(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(format_amount(1250), "12.50")

    def test_small(self):
        self.assertEqual(format_amount(5), "0.05")

    def test_negative(self):
        self.assertEqual(format_amount(-129995, "$"), "-$1,299.95")

    def test_zero(self):
        self.assertEqual(format_amount(0), "0.00")


class Sharing(unittest.TestCase):
    def test_uneven(self):
        self.assertEqual(split_evenly(100, 3), [34, 33, 33])

    def test_even(self):
        self.assertEqual(split_evenly(90, 3), [30, 30, 30])

    def test_one(self):
        self.assertEqual(split_evenly(7, 1), [7])

    def test_none(self):
        with self.assertRaises(ValueError):
            split_evenly(100, 0)

    def test_tax(self):
        self.assertEqual(add_tax(1000, 19), 1190)

    def test_tax_rounds_up(self):
        self.assertEqual(add_tax(150, 5), 158)

    def test_tax_rounds_down(self):
        self.assertEqual(add_tax(149, 5), 156)

    def test_discount(self):
        self.assertEqual(discount(2000, 15), 1700)

    def test_discount_minimum(self):
        self.assertEqual(discount(2000, 50, 1500), 1500)

    def test_whole_discount(self):
        self.assertEqual(discount(500, 100), 0)

    def test_too_much(self):
        with self.assertRaises(ValueError):
            discount(500, 101)

    def test_below_nothing(self):
        with self.assertRaises(ValueError):
            discount(500, -1)

    def test_change(self):
        self.assertEqual(change(365, 500), [100, 20, 10, 5])

    def test_exact(self):
        self.assertEqual(change(120, 120), [])

    def test_few_coins(self):
        self.assertEqual(change(0, 30, (20, 10)), [20, 10])

    def test_too_little(self):
        with self.assertRaises(ValueError):
            change(200, 199)
