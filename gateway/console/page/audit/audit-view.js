import { listAudit } from '../api.js';
import { Filters } from '../shell/filters.js';
import { html } from '../shell/html.js';
import { Pages } from '../shell/pages.js';
import { Table } from '../shell/table.js';
import { View } from '../shell/view.js';
import { Time } from '../words/time.js';

const FIELDS = [
  { name: 'target', label: 'About (an id)' },
  { name: 'action', label: 'Action' },
];

const COLUMNS = [
  { name: 'When', cell: ({ at }) => html`<${Time} at=${at} />` },
  { name: 'Who', cell: ({ actor }) => actor },
  { name: 'What', cell: ({ action }) => html`<code>${action}</code>` },
  { name: 'About', cell: ({ target }) => html`<code>${target}</code>` },
  { name: 'More', cell: ({ detail }) => html`<${Detail} detail=${detail} />` },
];

/** What operators did, newest first. */
export function AuditView({ query }) {
  const ask = (pageToken) => listAudit({ ...Object.fromEntries(query), pageToken });
  return html`<${View} title="Audit log">
    <${Filters} path=${['audit']} query=${query} fields=${FIELDS} label="Audit log" />
    <${Pages} ask=${ask} loadKey=${query.toString()} what="the audit log" empty="No entry matches.">
      ${(items) => html`<${Table} caption="Audit log, newest first" columns=${COLUMNS} rows=${items} keyOf=${({ auditEntryId }) => auditEntryId} />`}
    <//>
  <//>`;
}

function Detail({ detail }) {
  if (!detail || Object.keys(detail).length === 0) return html`<span class="quiet">–</span>`;
  return html`<details><summary>Show</summary><pre>${JSON.stringify(detail, null, 2)}</pre></details>`;
}
