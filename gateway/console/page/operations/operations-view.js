import { listOperations } from '../api.js';
import { moneyAndDateFields } from '../shell/filters.js';
import { html } from '../shell/html.js';
import { listView } from '../shell/list-view.js';
import { nameOfKind } from '../words/kinds.js';
import { KNOWN_KINDS } from '../words/known-kinds.js';
import { formatAmount } from '../words/money.js';
import { Time } from '../words/time.js';
import { Badge, choicesOfWords, Id } from '../words/words.js';

const FIELDS = [
  { name: 'merchantId', label: 'Merchant' },
  { name: 'operation', label: 'What', options: KNOWN_KINDS.map((kind) => [kind, nameOfKind(kind)]) },
  { name: 'status', label: 'Result', options: choicesOfWords('OK', 'KO') },
  ...moneyAndDateFields('final', 'Final'),
];

const COLUMNS = [
  { name: 'Operation', cell: ({ requestId }) => html`<${Id} id=${requestId} of="operations" />` },
  { name: 'What', cell: ({ operation }) => nameOfKind(operation) },
  { name: 'Result', cell: ({ status, statusInfo }) => html`<${Badge} word=${status} /> ${statusInfo}` },
  { name: 'Amount', isNumber: true, cell: ({ amount, currency }) => formatAmount(amount, currency) },
  { name: 'Merchant', cell: ({ merchantId }) => merchantId },
  { name: 'Reference', cell: ({ merchantReference }) => merchantReference },
  { name: 'Hold', cell: ({ holdRequestId: id }) => html`<${Id} id=${id} of="holds" />` },
  { name: 'Final', cell: ({ finalStateDate }) => html`<${Time} at=${finalStateDate} />` },
];

/** Everything that has a result: holds, captures, releases, OCTs and whatever else, searched. */
export const OperationsView = listView({
  title: 'Operations',
  lead: 'Final results, newest first. What has no result yet needs attention, or is on its way.',
  search: { path: ['operations'], fields: FIELDS },
  list: { read: listOperations, what: 'operations', csv: 'operations', empty: 'No operation matches.' },
  table: { caption: 'Operations, newest first', columns: COLUMNS, keyOf: ({ requestId }) => requestId },
});
