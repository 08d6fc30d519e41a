/** Money as the customer's language writes it; whole amounts without decimals. */
export function money(cents: number, currency: string, locale: string): string {
  const digits = cents % 100 === 0 ? 0 : 2;
  return new Intl.NumberFormat(locale, { style: "currency", currency, minimumFractionDigits: digits }).format(cents / 100);
}

/** "in 5 minutes", "3 hours ago": in the largest unit that fits. */
export function fromNow(then: Date, now: Date, locale: string): string {
  const units: [Intl.RelativeTimeFormatUnit, number][] = [["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]];
  const seconds = (then.getTime() - now.getTime()) / 1000;
  const [unit, size] = units.find(([, s]) => Math.abs(seconds) >= s) ?? units[3];
  return new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(Math.round(seconds / size), unit);
}

/** Cuts a long name in the middle, so that its end stays readable. */
export function middle(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor((most - 1) / 2);
  return text.slice(0, half) + "…" + text.slice(text.length - half);
}
