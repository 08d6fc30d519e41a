"""Imports timetables from GTFS feeds of the shipping lines."""

from datetime import datetime, timedelta


def parse_clock(text: str) -> timedelta:
    """Times of a service day may go beyond midnight: 25:10:00 is ten past one the next morning."""
    hours, minutes, seconds = (int(part) for part in text.split(":"))
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def service_days(calendar, exceptions):
    """The days on which a service runs: its weekdays, plus added and minus removed dates."""
    days = set()
    day = calendar["start"]
    while day <= calendar["end"]:
        if calendar["weekdays"][day.weekday()]:
            days.add(day)
        day += timedelta(days=1)
    for e in exceptions:
        (days.add if e["type"] == 1 else days.discard)(e["date"])
    return days


def double_berths(calls):
    """Pairs of ships that would lie at the same berth at the same time."""
    clashes = []
    by_berth = {}
    for call in sorted(calls, key=lambda c: c["arrives"]):
        last = by_berth.get(call["berth"])
        if last and last["leaves"] > call["arrives"]:
            clashes.append((last["ship"], call["ship"]))
        by_berth[call["berth"]] = call
    return clashes


def local_departure(day: datetime, offset: timedelta, zone) -> datetime:
    """Count from noon minus twelve hours, so that a change of the clocks at night shifts nothing."""
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=zone)
    return (noon.timestamp() - 12 * 3600 + offset.total_seconds(), zone)
