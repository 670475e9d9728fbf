import { html } from '../shell/view.js';

/** More stand behind a click. */
const SHOWN_LINES = 6;

/**
 * What an entry of the audit log says besides who, what and about what: old and new values of a change, then everything
 * else.
 */
export function detailOf({ detail = {} }) {
  const { before = {}, after = {}, ...rest } = detail;
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const lines = [
    ...changed.map((name) => [name, detail.before ? changeOf(before[name], after[name]) : textOf(after[name])]),
    ...Object.entries(rest).map(([name, value]) => [name, textOf(value)]),
  ];
  if (lines.length === 0) return undefined;
  const list = html`<dl class="pairs">
    ${lines.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
  return lines.length > SHOWN_LINES ? html`<details><summary>${lines.length} fields</summary>${list}</details>` : list;
}

function changeOf(before, after) {
  return html`<del>${textOf(before)}</del> <span aria-hidden="true">→</span> <ins>${textOf(after)}</ins>`;
}

function textOf(value) {
  if (value === null || value === undefined || value === '') return 'none';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
