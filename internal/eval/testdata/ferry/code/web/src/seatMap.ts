// The plan of the deck on which customers pick places.

export interface Seat {
  row: number;
  column: number;
  free: boolean;
}

/** The arrow keys go to the next place in their direction and over gaps such as the aisle. */
export function move(seats: Seat[], from: Seat, dx: number, dy: number): Seat {
  const ahead = seats.filter((s) => (dx ? s.row === from.row && (s.column - from.column) * dx > 0 : s.column === from.column && (s.row - from.row) * dy > 0));
  ahead.sort((a, b) => Math.abs(a.row - from.row) + Math.abs(a.column - from.column) - Math.abs(b.row - from.row) - Math.abs(b.column - from.column));
  return ahead[0] ?? from;
}

/** Finds places side by side for a family, as far forward as possible. */
export function together(seats: Seat[], people: number): Seat[] {
  const rows = new Map<number, Seat[]>();
  for (const s of seats) {
    if (s.free) rows.set(s.row, [...(rows.get(s.row) ?? []), s]);
  }
  for (const row of [...rows.keys()].sort((a, b) => a - b)) {
    const line = rows.get(row)!.sort((a, b) => a.column - b.column);
    for (let i = 0; i + people <= line.length; i++) {
      if (line[i + people - 1].column - line[i].column === people - 1) return line.slice(i, i + people);
    }
  }
  return [];
}

/** What a screen reader says about a place. */
export function describe(s: Seat): string {
  const letter = String.fromCharCode(65 + s.column);
  return `Seat ${s.row}${letter}, ${s.free ? "available" : "occupied"}`;
}
