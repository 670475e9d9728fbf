import { get, pathOf, post } from '../api.js';
import { outcomeOf } from '../deliveries/dialogs.js';
import { Loaded, useLoad } from '../shell/load.js';
import { Time } from '../shell/table.js';
import { html } from '../shell/view.js';
import { textOf } from '../words/words.js';

/** What a notification of the relay says: its path, then what was signed. */
export function said({ kind, statusInfo, status, amount, currency }) {
  return `${kind.toLowerCase()}/${statusInfo} ${status} ${amount} ${currency}`;
}

/** What is held, and what was accepted under the same request ID. */
export function bothSides({ accepted, ...item }) {
  if (!accepted) return said(item);
  return html`${said(item)}<br />
    <span class="quiet">Accepted: ${said(accepted)}, <${Time} at=${accepted.receivedAt} /></span>`;
}

/** Forwards an accepted notification, again if it was forwarded before. */
export const replayStoredDialog = (item) => ({
  title: 'Forward this notification?',
  action: 'Replay',
  body: question(
    item,
    "It is forwarded to the merchant's internal endpoint, byte for byte, even if it was forwarded before.",
  ),
  run: () => forward(item, '/relay/notifications/replay', { merchantId: item.merchantId, requestId: item.requestId }),
});

/** Accepts a notification that was set aside. */
export const releaseDialog = (item) => ({
  title: 'Release this notification?',
  action: 'Release',
  body: question(item, "It is forwarded to the merchant's internal endpoint, once, byte for byte."),
  run: () => forward(item, pathOf`/relay/quarantine/${item.quarantineId}/release`),
});

export const discardDialog = (item) => ({
  title: 'Discard this notification?',
  action: 'Discard',
  tone: 'danger',
  body: question(item, 'It is never forwarded. This cannot be undone.'),
  run: () => post(pathOf`/relay/quarantine/${item.quarantineId}/discard`),
  done: () => 'The notification is discarded.',
});

function question(item, effect) {
  return html`
    <p>${item.merchantId}, <code>${item.requestId}</code>: ${bothSides(item)}</p>
    <p>${effect}</p>
  `;
}

async function forward({ merchantId }, path, body) {
  await post(path, body);
  return outcomeOf({ merchantId, endpointKind: 'INTERNAL' }, 'The notification is forwarded.');
}

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
