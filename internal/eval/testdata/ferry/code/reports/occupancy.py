"""How full the ships were."""

from collections import defaultdict
from datetime import date, timedelta


def daily_occupancy(sailings):
    """Passengers per seat for each day."""
    people, seats = defaultdict(int), defaultdict(int)
    for s in sailings:
        people[s["day"]] += s["boarded"]
        seats[s["day"]] += s["capacity"]
    return {day: people[day] / seats[day] for day in seats if seats[day]}


def fill_gaps(series, first: date, last: date):
    """Give days without a sailing the value of the day before."""
    filled, value = {}, 0.0
    day = first
    while day <= last:
        value = series.get(day, value)
        filled[day] = value
        day += timedelta(days=1)
    return filled


def smooth(values, width=7):
    """Centred moving mean; at the ends the window is shorter."""
    half = width // 2
    out = []
    for i in range(len(values)):
        window = values[max(0, i - half) : i + half + 1]
        out.append(sum(window) / len(window))
    return out


def no_shows(bookings):
    """Share of paid tickets whose owner never came aboard, by hour of departure."""
    paid, missing = defaultdict(int), defaultdict(int)
    for b in bookings:
        hour = b["departure"].hour
        paid[hour] += 1
        if b["scanned_at"] is None:
            missing[hour] += 1
    return {hour: missing[hour] / n for hour, n in paid.items()}
