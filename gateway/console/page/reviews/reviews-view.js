import { useState } from 'preact/hooks';
import { listReviews } from '../api.js';
import { Filters } from '../shell/filters.js';
import { html } from '../shell/html.js';
import { notify } from '../shell/notice.js';
import { Pages } from '../shell/pages.js';
import { linkTo } from '../shell/route.js';
import { Table } from '../shell/table.js';
import { View } from '../shell/view.js';
import { holdOf, nameOfKind } from '../words/kinds.js';
import { formatAmount } from '../words/money.js';
import { spanOf, Time } from '../words/time.js';
import { Badge, choicesOfWords, Id } from '../words/words.js';
import { ResolveDialog } from './resolve-dialog.js';

const FIELDS = [
  { name: 'merchantId', label: 'Merchant' },
  { name: 'reason', label: 'Why', options: choicesOfWords('UNKNOWN', 'NEEDS_REVIEW', 'FROZEN') },
];

/** Operations without a result, and frozen holds. No machine may guess how they ended. */
export function ReviewsView({ query }) {
  const [item, setItem] = useState();
  const [round, setRound] = useState(0);
  const close = () => setItem(undefined);
  const done = () => {
    close();
    setRound(round + 1);
    notify('Resolved.');
  };
  const ask = (pageToken) => listReviews({ ...Object.fromEntries(query), pageToken });
  return html`<${View} title="Needs attention" lead="Inquiries go on while an outcome is unknown. What they cannot settle is for you.">
    <${Filters} path=${['reviews']} query=${query} fields=${FIELDS} label="Needs attention" />
    <${Pages} ask=${ask} loadKey=${`${query} ${round}`} what="what waits" csv="needs-attention" empty="Nothing waits for you.">
      ${(items) => html`<${Table} caption="What waits, oldest first" columns=${columnsOf(setItem)} rows=${items}
        keyOf=${({ requestId, reason }) => `${requestId} ${reason}`} />`}
    <//>
    ${item && html`<${ResolveDialog} item=${item} onDone=${done} onClose=${close} />`}
  <//>`;
}

function columnsOf(ask) {
  return [
    { name: 'Why', cell: ({ reason }) => html`<${Badge} word=${reason} />` },
    {
      name: 'What',
      cell: ({ operation, lateVoid }) => (lateVoid ? 'Void of a late authorization' : nameOfKind(operation)),
    },
    { name: 'Amount', isNumber: true, cell: ({ amount, currency }) => formatAmount(amount, currency) },
    { name: 'Merchant', cell: ({ merchantId }) => merchantId },
    { name: 'Processor', cell: ({ processor }) => processor ?? '–' },
    { name: 'Hold', cell: (item) => html`<${Id} ...${linkToHold(item)} />` },
    { name: 'For', cell: ({ ageSeconds }) => spanOf(ageSeconds) },
    { name: 'Inquiries', isNumber: true, cell: ({ inquiryCount }) => inquiryCount },
    { name: 'Next inquiry', cell: ({ nextInquiryAt }) => html`<${Time} at=${nextInquiryAt} />` },
    {
      name: 'Decide',
      cell: (item) =>
        item.reason === 'UNKNOWN'
          ? html`<span class="quiet">inquiring</span>`
          : html`<button type="button" aria-label="Resolve ${item.requestId}" onClick=${() => ask(item)}>Resolve…</button>`,
    },
  ];
}

function linkToHold(item) {
  const id = holdOf(item);
  return id ? { id, href: linkTo(['holds', id]) } : { id: item.requestId };
}
