import { pathOf, post } from '../api.js';
import { outcomeOf } from '../deliveries/dialogs.js';
import { html } from '../shell/html.js';
import { Time } from '../shell/table.js';

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
  return outcomeOf(merchantId, 'INTERNAL', 'The notification is forwarded.');
}
