import { useState } from 'preact/hooks';
import { listStored, replayStored } from '../api.js';
import { outcomeOf } from '../deliveries/pause.js';
import { Confirm } from '../shell/dialog.js';
import { Filters } from '../shell/filters.js';
import { html } from '../shell/html.js';
import { notify } from '../shell/notice.js';
import { Pages } from '../shell/pages.js';
import { linkTo } from '../shell/route.js';
import { Table } from '../shell/table.js';
import { View } from '../shell/view.js';
import { Time } from '../words/time.js';
import { Badge, choicesOfWords, Id, said } from '../words/words.js';

const FIELDS = [
  { name: 'merchantId', label: 'Merchant' },
  { name: 'requestId', label: 'Request ID (with a merchant)' },
  { name: 'state', label: 'State', options: choicesOfWords('PARKED') },
];

/** Notifications that the relay has accepted: where each stands, and the way to forward it once more. */
export function StoredView({ query }) {
  const [asked, setAsked] = useState();
  const [round, setRound] = useState(0);
  const close = () => setAsked(undefined);
  const done = (text) => {
    close();
    setRound(round + 1);
    notify(text);
  };
  const ask = (pageToken) => listStored({ ...Object.fromEntries(query), pageToken });
  return html`<${View} title="Accepted notifications" lead="What the relay has verified and accepted. Parked ones are forwarded as soon as the merchant has an internal URL.">
    <${Filters} path=${['notifications']} query=${query} fields=${FIELDS} label="Accepted notifications" />
    <${Pages} ask=${ask} loadKey=${`${query} ${round}`} what="the notifications" csv="accepted" empty="No notification matches.">
      ${(
        items,
      ) => html`<${Table} caption="Accepted notifications, newest first" columns=${columnsOf(setAsked)} rows=${items}
        keyOf=${({ merchantId, requestId }) => `${merchantId} ${requestId}`} />`}
    <//>
    ${asked && html`<${Replay} item=${asked} onDone=${done} onClose=${close} />`}
  <//>`;
}

function columnsOf(ask) {
  return [
    { name: 'Received', cell: ({ receivedAt }) => html`<${Time} at=${receivedAt} />` },
    { name: 'State', cell: ({ state }) => html`<${Badge} word=${state} />` },
    { name: 'Merchant', cell: ({ merchantId }) => merchantId },
    { name: 'Request ID', cell: ({ requestId }) => html`<${Id} id=${requestId} />` },
    { name: 'Says', cell: said },
    {
      name: 'Delivery',
      cell: ({ deliveryId: id }) => html`<${Id} id=${id} href=${id && linkTo(['deliveries', id])} />`,
    },
    {
      name: 'Decide',
      cell: (item) =>
        html`<button type="button" aria-label="Replay ${item.requestId}" onClick=${() => ask(item)}>Replay…</button>`,
    },
  ];
}

function Replay({ item, onDone, onClose }) {
  const run = async () => {
    await replayStored(item.merchantId, item.requestId);
    return outcomeOf(item.merchantId, 'INTERNAL', 'The notification is forwarded.');
  };
  return html`<${Confirm} title="Forward this notification?" action="Replay" run=${run} onDone=${onDone} onClose=${onClose}>
    <p>${item.merchantId}, <code>${item.requestId}</code>: ${said(item)}</p>
    <p>It is forwarded to the merchant's internal endpoint, byte for byte, even if it was forwarded before.</p>
  <//>`;
}
