import { get } from '../api.js';
import { html } from '../shell/html.js';
import { Loaded, useLoad } from '../shell/load.js';
import { textOf } from '../words/words.js';

/** As many as one page can have. */
const SUMMED = 200;

/** The newest failures by reason, by source, and by merchant. */
export function Sums({ filter }) {
  const newest = useLoad(() => get('/relay/failures', { ...filter, pageSize: SUMMED }));
  return html`
    <${Loaded} of=${newest} what="the sums">
      ${({ items }) =>
        items.length > 0 &&
        html`<h2>Of the newest ${items.length}</h2>
          <div class="charts">
            <${Sum} title="By reason" items=${items} of=${({ reason }) => textOf(reason)} />
            <${Sum} title="By source" items=${items} of=${({ address }) => address || 'gone'} />
            <${Sum} title="By claimed merchant" items=${items} of=${({ claimedMerchantId }) => claimedMerchantId} />
          </div>`}
    <//>
    <h2>One by one</h2>
  `;
}

const SHOWN = 6;

function Sum({ title, items, of }) {
  const groups = Object.entries(Object.groupBy(items, of)).sort(([, a], [, b]) => b.length - a.length);
  return html`<section class="card" aria-label=${title}>
    <h3>${title}</h3>
    <dl class="sums">
      ${groups.slice(0, SHOWN).map(
        ([name, { length }]) => html`<div>
          <dt>${name}</dt>
          <dd>${length}</dd>
          <svg class="division" viewBox="0 0 ${items.length} 4" preserveAspectRatio="none" aria-hidden="true">
            <rect class="bad" width=${length} height="4" />
          </svg>
        </div>`,
      )}
    </dl>
    ${groups.length > SHOWN && html`<p class="quiet">and ${groups.length - SHOWN} more</p>`}
  </section>`;
}
