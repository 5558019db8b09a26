"""Schedules: what is a cron line, and what is said of one that is not."""

from __future__ import annotations

import pytest

from synth.errors import InputError
from synth.flows.deploy import next_time


@pytest.mark.parametrize(
    ("cron", "hour", "minute"),
    [("0 3 * * *", 3, 0), ("15 22 * * 1-5", 22, 15), ("@daily", 0, 0), (" 0 3 * * * ", 3, 0)],
)
def test_a_cron_line_has_a_next_time_in_its_zone(cron: str, hour: int, minute: int) -> None:
    when = next_time(cron, "Europe/Paris")
    assert (when.hour, when.minute) == (hour, minute)
    assert str(when.tzinfo and when.tzname()) in {"CET", "CEST"}


@pytest.mark.parametrize(
    "cron",
    ["", "x", "0 3 * *", "0 3 * * * *", "60 * * * *", "0 3 * * 9", "H 3 * * *", "@reboot", "@never", "every night"],
)
def test_what_is_no_cron_line_gets_one_line_with_an_example(cron: str) -> None:
    with pytest.raises(InputError) as caught:
        next_time(cron)
    line = str(caught.value)
    assert line.startswith("--cron: ")
    assert repr(cron) in line
    assert '--cron "0 3 * * *"' in line
    assert "\n" not in line
    assert caught.value.exit_code == 2


def test_a_date_that_never_comes_is_refused() -> None:
    with pytest.raises(InputError, match="never comes"):
        next_time("0 0 30 2 *")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "/etc"])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(InputError, match="--timezone: no time zone"):
        next_time("0 3 * * *", zone)
