import { listAudit } from '../api.js';
import { dateFields } from '../shell/filters.js';
import { html } from '../shell/html.js';
import { listView } from '../shell/list-view.js';
import { Time } from '../words/time.js';

const FIELDS = [
  { name: 'target', label: 'About (an id)' },
  { name: 'action', label: 'Action' },
  ...dateFields('at', 'Written'),
];

const COLUMNS = [
  { name: 'When', cell: ({ at }) => html`<${Time} at=${at} />` },
  { name: 'Who', cell: ({ actor }) => actor },
  { name: 'What', cell: ({ action }) => html`<code>${action}</code>` },
  { name: 'About', cell: ({ target }) => html`<code>${target}</code>` },
  { name: 'Details', cell: ({ detail }) => html`<${Detail} detail=${detail} />` },
];

/** What operators did, and merchants with their webhooks, newest first. */
export const AuditView = listView({
  title: 'Audit log',
  search: { path: ['audit'], fields: FIELDS },
  list: { read: listAudit, what: 'the audit log', csv: 'audit', empty: 'No entry matches.' },
  table: { caption: 'Audit log, newest first', columns: COLUMNS, keyOf: ({ auditEntryId }) => auditEntryId },
});

/**
 * What an entry of the audit log says besides who, what and about what: old and new values of a change, then everything
 * else.
 */
function Detail({ detail = {} }) {
  const { before, after, ...rest } = detail;
  const changes = namesOf(before, after).map((name) => [name, before, after]);
  const others = Object.entries(rest);
  const count = changes.length + others.length;
  if (count === 0) return html`<span class="quiet">–</span>`;
  const lines = html`<dl class="detail">
    ${changes.map(
      ([name, old, now]) =>
        html`<div><dt>${name}</dt><dd><${Change} name=${name} before=${old} after=${now} /></dd></div>`,
    )}
    ${others.map(([name, value]) => html`<div><dt>${name}</dt><dd>${textOf(value)}</dd></div>`)}
  </dl>`;
  return count > SHOWN_LINES ? html`<details><summary>${count} fields</summary>${lines}</details>` : lines;
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
