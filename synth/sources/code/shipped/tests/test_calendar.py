import unittest

from pocket.calendar import (
    day_of_year,
    days_between,
    days_in,
    format_duration,
    format_time,
    free_slots,
    is_leap,
    next_day,
    parse_time,
    weekday,
)


class Days(unittest.TestCase):
    def test_leap(self):
        self.assertTrue(is_leap(2024))

    def test_no_leap(self):
        self.assertFalse(is_leap(2023))

    def test_century(self):
        self.assertFalse(is_leap(1900))

    def test_fourth_century(self):
        self.assertTrue(is_leap(2000))

    def test_days_in(self):
        self.assertEqual(days_in(2023, 2), 28)

    def test_days_in_leap(self):
        self.assertEqual(days_in(2024, 2), 29)

    def test_days_in_last(self):
        self.assertEqual(days_in(2024, 12), 31)

    def test_days_in_april(self):
        self.assertEqual(days_in(2024, 4), 30)

    def test_no_month(self):
        with self.assertRaises(ValueError):
            days_in(2024, 13)

    def test_month_zero(self):
        with self.assertRaises(ValueError):
            days_in(2024, 0)

    def test_day_of_year(self):
        self.assertEqual(day_of_year((2024, 1, 1)), 1)

    def test_last_day_of_year(self):
        self.assertEqual(day_of_year((2023, 12, 31)), 365)

    def test_next_day(self):
        self.assertEqual(next_day((2024, 5, 6)), (2024, 5, 7))

    def test_next_month(self):
        self.assertEqual(next_day((2023, 2, 28)), (2023, 3, 1))

    def test_next_year(self):
        self.assertEqual(next_day((2023, 12, 31)), (2024, 1, 1))

    def test_between(self):
        self.assertEqual(days_between((2024, 2, 28), (2024, 3, 1)), 2)

    def test_between_years(self):
        self.assertEqual(days_between((2022, 12, 31), (2025, 1, 1)), 732)

    def test_between_back(self):
        self.assertEqual(days_between((2024, 1, 10), (2024, 1, 1)), -9)

    def test_weekday(self):
        self.assertEqual(weekday((2024, 7, 14)), 6)

    def test_monday(self):
        self.assertEqual(weekday((2024, 1, 8)), 0)


class Times(unittest.TestCase):
    def test_parse(self):
        self.assertEqual(parse_time("7:05"), 425)

    def test_parse_evening(self):
        self.assertEqual(parse_time(" 7:05 PM "), 1145)

    def test_parse_noon(self):
        self.assertEqual(parse_time("12:30 pm"), 750)

    def test_parse_midnight(self):
        self.assertEqual(parse_time("12:15 am"), 15)

    def test_parse_hour(self):
        self.assertEqual(parse_time("9"), 540)

    def test_parse_last(self):
        self.assertEqual(parse_time("23:59"), 1439)

    def test_no_minute(self):
        with self.assertRaises(ValueError):
            parse_time("7:60")

    def test_no_hour(self):
        with self.assertRaises(ValueError):
            parse_time("24:00")

    def test_format(self):
        self.assertEqual(format_time(425), "07:05")

    def test_format_past_midnight(self):
        self.assertEqual(format_time(1445), "00:05")

    def test_duration(self):
        self.assertEqual(format_duration(125), "2 h 5 min")

    def test_duration_hours(self):
        self.assertEqual(format_duration(180), "3 h")

    def test_duration_minutes(self):
        self.assertEqual(format_duration(45), "45 min")

    def test_free(self):
        self.assertEqual(free_slots([(600, 660), (540, 570)], 540, 720), [(570, 600), (660, 720)])

    def test_free_least(self):
        self.assertEqual(free_slots([(560, 600)], 540, 620), [])

    def test_free_all(self):
        self.assertEqual(free_slots([], 540, 570), [(540, 570)])

    def test_free_within(self):
        self.assertEqual(free_slots([(540, 700), (560, 580)], 540, 720, 10), [(700, 720)])
