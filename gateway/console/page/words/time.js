import { html } from '../shell/html.js';

/** A moment, in UTC, as the logs have it; the day is left out when it is today. */
export function Time({ at }) {
  if (!at) return html`<span class="quiet">–</span>`;
  return html`<time datetime=${at} title=${at}>${momentOf(at)}</time>`;
}

/** `13:30:45`, or `21 Nov 13:30:45` on another day. */
export function momentOf(at, now = new Date()) {
  const date = new Date(at);
  const iso = date.toISOString();
  const clock = iso.slice(11, 19);
  if (iso.slice(0, 10) === now.toISOString().slice(0, 10)) return clock;
  const day = date.toLocaleDateString('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short' });
  return `${day} ${clock}`;
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

/** How long ago a moment was. */
export function agoOf(at, now = Date.now()) {
  return `${spanOf((now - Date.parse(at)) / 1000)} ago`;
}
