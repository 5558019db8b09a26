"""Small tools for everyday programs: amounts, intervals, text, routes, schedules."""
