import { listAudit } from '../api.js';
import { dateFields, dateFilter } from '../shell/date-filter.js';
import { Filters } from '../shell/filters.js';
import { html } from '../shell/html.js';
import { Pages } from '../shell/pages.js';
import { Table } from '../shell/table.js';
import { View } from '../shell/view.js';
import { Time } from '../words/time.js';
import { Detail } from './detail.js';

const DATES = ['atFrom', 'atTo'];

const FIELDS = [
  { name: 'target', label: 'About (an id)' },
  { name: 'action', label: 'Action' },
  ...dateFields(DATES, 'Written'),
];

const COLUMNS = [
  { name: 'When', cell: ({ at }) => html`<${Time} at=${at} />` },
  { name: 'Who', cell: ({ actor }) => actor },
  { name: 'What', cell: ({ action }) => html`<code>${action}</code>` },
  { name: 'About', cell: ({ target }) => html`<code>${target}</code>` },
  { name: 'Details', cell: ({ detail }) => html`<${Detail} detail=${detail} />` },
];

/** What operators did, and merchants with their webhooks, newest first. */
export function AuditView({ query }) {
  const ask = (pageToken) => listAudit({ ...dateFilter(Object.fromEntries(query), DATES), pageToken });
  return html`<${View} title="Audit log">
    <${Filters} path=${['audit']} query=${query} fields=${FIELDS} label="Audit log" />
    <${Pages} ask=${ask} loadKey=${query.toString()} what="the audit log" csv="audit" empty="No entry matches.">
      ${(items) => html`<${Table} caption="Audit log, newest first" columns=${COLUMNS} rows=${items} keyOf=${({ auditEntryId }) => auditEntryId} />`}
    <//>
  <//>`;
}
