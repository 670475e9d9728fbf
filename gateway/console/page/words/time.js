/** `13:30:45`, or `21 Nov 13:30:45` on another day, with the year when it is not this one. Local. */
export function momentOf(at) {
  const [date, now] = [new Date(at), new Date()];
  const clock = date.toLocaleTimeString('en-GB');
  if (date.toDateString() === now.toDateString()) return clock;
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year })} ${clock}`;
}

/** What a date-and-time input says, which is local, as RFC 3339; undefined = nothing. */
export function momentIn(text) {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** A number of hours from now, written like `24h`, as RFC 3339; undefined = none. */
export function hoursAhead(text) {
  const hours = Number.parseInt(text, 10);
  return hours > 0 ? new Date(Date.now() + hours * 3_600_000).toISOString() : undefined;
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** How long something takes or took, in its largest unit: `5 minutes`. */
export function spanOf(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const [unit, size] = UNITS.find(([, unitSeconds]) => whole >= unitSeconds) ?? UNITS.at(-1);
  const count = Math.floor(whole / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

export function agoOf(at) {
  return `${spanOf((Date.now() - Date.parse(at)) / 1000)} ago`;
}
