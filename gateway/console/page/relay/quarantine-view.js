import { decideQuarantine, listQuarantine } from '../api.js';
import { outcomeOf } from '../deliveries/pause.js';
import { Confirm } from '../shell/dialog.js';
import { html } from '../shell/html.js';
import { listView } from '../shell/list-view.js';
import { linkTo } from '../shell/route.js';
import { Time } from '../words/time.js';
import { Badge, choicesOfWords, Id, QUARANTINE, said } from '../words/words.js';

const FIELDS = [
  { name: 'merchantId', label: 'Merchant' },
  { name: 'state', label: 'State', options: choicesOfWords('HELD', 'RELEASED', 'DISCARDED') },
];

const COLUMNS = [
  { name: 'Received', cell: ({ receivedAt }) => html`<${Time} at=${receivedAt} />` },
  { name: 'State', cell: ({ state }) => html`<${Badge} word=${state} />` },
  { name: 'Why', cell: ({ reason }) => QUARANTINE[reason] ?? reason },
  { name: 'Merchant', cell: ({ merchantId }) => merchantId },
  { name: 'Request ID', cell: ({ requestId }) => html`<${Id} id=${requestId} />` },
  { name: 'Says', cell: (item) => html`<${BothSides} item=${item} />` },
  { name: 'Decide', cell: (item, act) => html`<${Choice} item=${item} act=${act} />` },
];

/** Notifications that were verified and must not be accepted as they are. */
export const QuarantineView = listView({
  title: 'Quarantine',
  lead: 'Notifications with a genuine signature that contradict what was accepted, or themselves.',
  search: { path: ['quarantine'], fields: FIELDS },
  Dialog: Decide,
  list: { read: listQuarantine, what: 'the quarantine', csv: 'quarantine', empty: 'Nothing is set aside.' },
  table: {
    caption: 'Notifications set aside, newest first',
    columns: COLUMNS,
    keyOf: ({ quarantineId }) => quarantineId,
  },
});

/** What is held, and what was accepted under the same request ID. */
function BothSides({ item }) {
  const { accepted } = item;
  return html`${said(item)}
    ${
      accepted &&
      html`<br /><span class="quiet">Accepted: ${said(accepted)}, <${Time} at=${accepted.receivedAt} /></span>`
    }`;
}

function Choice({ item, act }) {
  const { state, requestId, deliveryId } = item;
  if (state === 'RELEASED' && deliveryId) return html`<a href=${linkTo(['deliveries', deliveryId])}>Delivery</a>`;
  if (state !== 'HELD') return html`<span class="quiet">–</span>`;
  return html`<span class="buttons">
    <button type="button" aria-label="Release ${requestId}"
      onClick=${() => act({ item, isRelease: true })}>Release…</button>
    <button type="button" aria-label="Discard ${requestId}"
      onClick=${() => act({ item, isRelease: false })}>Discard…</button>
  </span>`;
}

function Decide({ asked: { item, isRelease }, onDone, onClose }) {
  const run = async () => {
    await decideQuarantine(item.quarantineId, isRelease ? 'release' : 'discard');
    if (!isRelease) return 'The notification is discarded.';
    return outcomeOf(item.merchantId, 'INTERNAL', 'The notification is forwarded.');
  };
  return html`<${Confirm} title=${isRelease ? 'Release this notification?' : 'Discard this notification?'}
    action=${isRelease ? 'Release' : 'Discard'} isDangerous=${!isRelease} run=${run}
    onDone=${onDone} onClose=${onClose}>
    <p>${item.merchantId}, <code>${item.requestId}</code>: <${BothSides} item=${item} /></p>
    <p>${
      isRelease
        ? "It is forwarded to the merchant's internal endpoint, once, byte for byte."
        : 'It is never forwarded. This cannot be undone.'
    }</p>
  <//>`;
}
