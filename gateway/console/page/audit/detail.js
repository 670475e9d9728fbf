import { html } from '../shell/html.js';

/** What an entry of the audit log says besides who, what and about what: old and new values of a change, then everything else. */
export function Detail({ detail = {} }) {
  const { before, after, ...rest } = detail;
  const changes = namesOf(before, after).map((name) => [name, before, after]);
  const others = Object.entries(rest);
  if (changes.length + others.length === 0) return html`<span class="quiet">–</span>`;
  const isLong = changes.length + others.length > SHOWN_LINES;
  const lines = html`<dl class="detail">
    ${changes.map(([name, old, now]) => html`<div><dt>${name}</dt><dd><${Change} name=${name} before=${old} after=${now} /></dd></div>`)}
    ${others.map(([name, value]) => html`<div><dt>${name}</dt><dd>${textOf(value)}</dd></div>`)}
  </dl>`;
  return isLong ? html`<details><summary>${changes.length + others.length} fields</summary>${lines}</details>` : lines;
}

/** More stand behind a click. */
const SHOWN_LINES = 6;

/** A value that was, and what it became. What was created has only the latter. */
function Change({ name, before, after }) {
  if (before === undefined) return textOf(after[name]);
  return html`<del>${textOf(before[name])}</del> <span aria-hidden="true">→</span> <ins>${textOf(after?.[name])}</ins>`;
}

function namesOf(before = {}, after = {}) {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])];
}

function textOf(value) {
  if (value === null || value === undefined || value === '') return 'none';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
