import { listReviews } from '../api.js';
import { html } from '../shell/html.js';
import { listView } from '../shell/list-view.js';
import { holdOf, nameOfKind } from '../words/kinds.js';
import { formatAmount } from '../words/money.js';
import { spanOf, Time } from '../words/time.js';
import { Badge, choicesOfWords, Id } from '../words/words.js';
import { ResolveDialog } from './resolve-dialog.js';

const FIELDS = [
  { name: 'merchantId', label: 'Merchant' },
  { name: 'reason', label: 'Why', options: choicesOfWords('UNKNOWN', 'NEEDS_REVIEW', 'FROZEN') },
];

const COLUMNS = [
  { name: 'Why', cell: ({ reason }) => html`<${Badge} word=${reason} />` },
  {
    name: 'What',
    cell: ({ operation, lateVoid }) => (lateVoid ? 'Void of a late authorization' : nameOfKind(operation)),
  },
  { name: 'Amount', isNumber: true, cell: ({ amount, currency }) => formatAmount(amount, currency) },
  { name: 'Merchant', cell: ({ merchantId }) => merchantId },
  { name: 'Processor', cell: ({ processor }) => processor },
  { name: 'Hold', cell: (item) => html`<${Id} id=${holdOf(item) ?? item.requestId} of=${holdOf(item) && 'holds'} />` },
  { name: 'For', cell: ({ ageSeconds }) => spanOf(ageSeconds) },
  { name: 'Inquiries', isNumber: true, cell: ({ inquiryCount }) => inquiryCount },
  { name: 'Next inquiry', cell: ({ nextInquiryAt }) => html`<${Time} at=${nextInquiryAt} />` },
  {
    name: 'Decide',
    cell: (item, act) =>
      item.reason === 'UNKNOWN'
        ? html`<span class="quiet">inquiring</span>`
        : html`<button type="button" aria-label="Resolve ${item.requestId}"
          onClick=${() => act(item)}>Resolve…</button>`,
  },
];

/** Operations without a result, and frozen holds. No machine may guess how they ended. */
export const ReviewsView = listView({
  title: 'Needs attention',
  lead: 'Inquiries go on while an outcome is unknown. What they cannot settle is for you.',
  search: { path: ['reviews'], fields: FIELDS },
  Dialog: ResolveDialog,
  list: { read: listReviews, what: 'what waits', csv: 'needs-attention', empty: 'Nothing waits for you.' },
  table: {
    caption: 'What waits, oldest first',
    columns: COLUMNS,
    keyOf: ({ requestId, reason }) => `${requestId} ${reason}`,
  },
});
