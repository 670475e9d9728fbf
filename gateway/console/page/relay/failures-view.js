import { listFailures } from '../api.js';
import { html } from '../shell/html.js';
import { listView } from '../shell/list-view.js';
import { Loaded, useLoad } from '../shell/load.js';
import { Time } from '../words/time.js';
import { FAILURES } from '../words/words.js';

const FIELDS = [
  { name: 'claimedMerchantId', label: 'Claimed merchant' },
  { name: 'reason', label: 'Reason', options: Object.entries(FAILURES) },
];

const COLUMNS = [
  { name: 'When', cell: ({ failedAt }) => html`<${Time} at=${failedAt} />` },
  { name: 'Reason', cell: ({ reason }) => FAILURES[reason] ?? reason },
  { name: 'Source', cell: ({ address }) => address || html`<span class="quiet">gone</span>` },
  { name: 'Claims to be of', cell: ({ claimedMerchantId }) => claimedMerchantId },
  { name: 'Path', cell: ({ kind, statusInfo }) => `${kind.toLowerCase()}/${statusInfo}` },
  { name: 'Body', isNumber: true, cell: ({ bodyBytes }) => `${bodyBytes} bytes` },
];

/** As many as one page can have. */
const SUMMED = 200;

/** What the relay could not verify: by reason, by source, and one by one. Neither body nor signature is kept. */
export const FailuresView = listView({
  title: 'Relay failures',
  lead: 'Notifications that the relay could not verify. The merchant is only a claim.',
  search: { path: ['relay'], fields: FIELDS },
  Above: AllSums,
  list: { read: listFailures, what: 'failures', csv: 'relay-failures', empty: 'Nothing was refused.' },
  table: { caption: 'Failures, newest first', columns: COLUMNS, keyOf: ({ failureId }) => failureId },
});

function AllSums({ query }) {
  const newest = useLoad(() => listFailures({ ...Object.fromEntries(query), pageSize: SUMMED }), query.toString());
  return html`
    <${Loaded} of=${newest} what="the sums">
      ${({ items }) =>
        items.length > 0 &&
        html`<h2>Of the newest ${items.length}</h2>
          <div class="charts">
            <${Sums} title="By reason" items=${items} of=${({ reason }) => FAILURES[reason] ?? reason} />
            <${Sums} title="By source" items=${items} of=${({ address }) => address || 'gone'} />
            <${Sums} title="By claimed merchant" items=${items} of=${({ claimedMerchantId }) => claimedMerchantId} />
          </div>`}
    <//>
    <h2>One by one</h2>
  `;
}

const SHOWN = 6;

function Sums({ title, items, of }) {
  const sums = new Map();
  for (const item of items) sums.set(of(item), (sums.get(of(item)) ?? 0) + 1);
  const sorted = [...sums].sort(([, a], [, b]) => b - a);
  return html`<section class="card" aria-label=${title}>
    <h3>${title}</h3>
    <dl class="sums">
      ${sorted.slice(0, SHOWN).map(
        ([name, count]) => html`<div>
          <dt>${name}</dt>
          <dd>${count}</dd>
          <svg class="division" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect class="bad" width=${(count / items.length) * 100} height="4" />
          </svg>
        </div>`,
      )}
    </dl>
    ${sorted.length > SHOWN && html`<p class="quiet">and ${sorted.length - SHOWN} more</p>`}
  </section>`;
}
