import { listHolds } from '../api.js';
import { moneyAndDateFields } from '../shell/filters.js';
import { html } from '../shell/html.js';
import { listView } from '../shell/list-view.js';
import { formatAmount } from '../words/money.js';
import { Time } from '../words/time.js';
import { Badge, choicesOfWords, Id } from '../words/words.js';

const FIELDS = [
  { name: 'requestId', label: 'Request ID' },
  { name: 'merchantId', label: 'Merchant' },
  { name: 'merchantReference', label: "Merchant's reference" },
  { name: 'userId', label: 'User' },
  {
    name: 'status',
    label: 'Status',
    options: choicesOfWords('IN_PROGRESS', 'PARTIALLY_CAPTURED', 'CAPTURED', 'RELEASED', 'EXPIRED', 'FAILED'),
  },
  ...moneyAndDateFields('created', 'Asked for'),
  {
    name: 'expiring',
    label: 'Ends',
    options: [
      ['1h', 'Within 1 hour'],
      ['24h', 'Within 24 hours'],
      ['72h', 'Within 3 days'],
    ],
  },
];

const COLUMNS = [
  { name: 'Hold', cell: ({ requestId }) => html`<${Id} id=${requestId} of="holds" />` },
  { name: 'Status', cell: ({ status }) => html`<${Badge} word=${status} />` },
  { name: 'Amount', isNumber: true, cell: ({ amount, currency }) => formatAmount(amount, currency) },
  { name: 'Captured', isNumber: true, cell: ({ amountCaptured, currency }) => formatAmount(amountCaptured, currency) },
  {
    name: 'Remaining',
    isNumber: true,
    cell: ({ amountRemaining, currency }) => formatAmount(amountRemaining, currency),
  },
  { name: 'Merchant', cell: ({ merchantId }) => merchantId },
  { name: 'Reference', cell: ({ merchantReference }) => merchantReference },
  { name: 'Asked for', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
  { name: 'Ends', cell: ({ expiresAt }) => html`<${Time} at=${expiresAt} />` },
];

export const HoldsView = listView({
  title: 'Holds',
  search: { path: ['holds'], fields: FIELDS, adjust },
  list: { read: listHolds, what: 'holds', csv: 'holds', empty: 'No hold matches.' },
  table: { caption: 'Holds, newest first', columns: COLUMNS, keyOf: ({ requestId }) => requestId },
});

function adjust({ expiring, ...filter }) {
  const hours = Number.parseInt(expiring, 10);
  if (!(hours > 0)) return filter;
  return { ...filter, expiringBefore: new Date(Date.now() + hours * 3_600_000).toISOString() };
}
