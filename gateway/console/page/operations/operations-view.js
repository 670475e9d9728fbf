import { listOperations } from '../api.js';
import { moneyAndDateFields, moneyAndDateFilter } from '../shell/filters.js';
import { html } from '../shell/html.js';
import { listView } from '../shell/list-view.js';
import { linkTo } from '../shell/route.js';
import { nameOfKind } from '../words/kinds.js';
import { KNOWN_KINDS } from '../words/known-kinds.js';
import { formatAmount } from '../words/money.js';
import { Time } from '../words/time.js';
import { Badge, choicesOfWords, Id } from '../words/words.js';

const DATES = ['finalFrom', 'finalTo'];

const FIELDS = [
  { name: 'merchantId', label: 'Merchant' },
  { name: 'operation', label: 'What', options: KNOWN_KINDS.map((kind) => [kind, nameOfKind(kind)]) },
  { name: 'status', label: 'Result', options: choicesOfWords('OK', 'KO') },
  ...moneyAndDateFields(DATES, 'Final'),
];

const COLUMNS = [
  {
    name: 'Operation',
    cell: ({ requestId }) => html`<${Id} id=${requestId} href=${linkTo(['operations', requestId])} />`,
  },
  { name: 'What', cell: ({ operation }) => nameOfKind(operation) },
  { name: 'Result', cell: ({ status, statusInfo }) => html`<${Badge} word=${status} /> ${statusInfo}` },
  { name: 'Amount', isNumber: true, cell: ({ amount, currency }) => formatAmount(amount, currency) },
  { name: 'Merchant', cell: ({ merchantId }) => merchantId },
  { name: 'Reference', cell: ({ merchantReference }) => merchantReference },
  {
    name: 'Hold',
    cell: ({ holdRequestId: id }) => html`<${Id} id=${id} href=${id && linkTo(['holds', id])} />`,
  },
  { name: 'Final', cell: ({ finalStateDate }) => html`<${Time} at=${finalStateDate} />` },
];

/** Everything that has a result: holds, captures, releases, OCTs and whatever else, searched. */
export const OperationsView = listView({
  title: 'Operations',
  lead: 'Final results, newest first. What has no result yet needs attention, or is on its way.',
  search: { path: ['operations'], fields: FIELDS, filterOf: (said) => moneyAndDateFilter(said, DATES) },
  list: { read: listOperations, what: 'operations', csv: 'operations', empty: 'No operation matches.' },
  table: { caption: 'Operations, newest first', columns: COLUMNS, keyOf: ({ requestId }) => requestId },
});
