import { useState } from 'preact/hooks';
import { decideQuarantine, listQuarantine } from '../api.js';
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
import { Badge, choicesOfWords, Id, QUARANTINE, said } from '../words/words.js';

const FIELDS = [
  { name: 'merchantId', label: 'Merchant' },
  { name: 'state', label: 'State', options: choicesOfWords('HELD', 'RELEASED', 'DISCARDED') },
];

/** Notifications that were verified and must not be accepted as they are. */
export function QuarantineView({ query }) {
  const [asked, setAsked] = useState();
  const [round, setRound] = useState(0);
  const close = () => setAsked(undefined);
  const done = (text) => {
    close();
    setRound(round + 1);
    notify(text);
  };
  const ask = (pageToken) => listQuarantine({ ...Object.fromEntries(query), pageToken });
  return html`<${View} title="Quarantine" lead="Notifications with a genuine signature that contradict what was accepted, or themselves.">
    <${Filters} path=${['quarantine']} query=${query} fields=${FIELDS} label="Quarantine" />
    <${Pages} ask=${ask} loadKey=${`${query} ${round}`} what="the quarantine" csv="quarantine" empty="Nothing is set aside.">
      ${(
        items,
      ) => html`<${Table} caption="Notifications set aside, newest first" columns=${columnsOf(setAsked)} rows=${items}
        keyOf=${({ quarantineId }) => quarantineId} />`}
    <//>
    ${asked && html`<${Decide} asked=${asked} onDone=${done} onClose=${close} />`}
  <//>`;
}

function columnsOf(ask) {
  return [
    { name: 'Received', cell: ({ receivedAt }) => html`<${Time} at=${receivedAt} />` },
    { name: 'State', cell: ({ state }) => html`<${Badge} word=${state} />` },
    { name: 'Why', cell: ({ reason }) => QUARANTINE[reason] ?? reason },
    { name: 'Merchant', cell: ({ merchantId }) => merchantId },
    { name: 'Request ID', cell: ({ requestId }) => html`<${Id} id=${requestId} />` },
    {
      name: 'Says',
      cell: (item) => html`<${BothSides} item=${item} />`,
    },
    { name: 'Decide', cell: (item) => html`<${Choice} item=${item} ask=${ask} />` },
  ];
}

/** What is held, and what was accepted under the same request ID. */
function BothSides({ item }) {
  const { accepted } = item;
  return html`${said(item)}
    ${accepted && html`<br /><span class="quiet">Accepted: ${said(accepted)}, <${Time} at=${accepted.receivedAt} /></span>`}`;
}

function Choice({ item, ask }) {
  const { state, requestId, deliveryId } = item;
  if (state === 'RELEASED' && deliveryId) return html`<a href=${linkTo(['deliveries', deliveryId])}>Delivery</a>`;
  if (state !== 'HELD') return html`<span class="quiet">–</span>`;
  return html`<span class="buttons">
    <button type="button" aria-label="Release ${requestId}" onClick=${() => ask({ item, act: 'release' })}>Release…</button>
    <button type="button" aria-label="Discard ${requestId}" onClick=${() => ask({ item, act: 'discard' })}>Discard…</button>
  </span>`;
}

function Decide({ asked: { item, act }, onDone, onClose }) {
  const isRelease = act === 'release';
  const run = async () => {
    await decideQuarantine(item.quarantineId, act);
    if (!isRelease) return 'The notification is discarded.';
    return outcomeOf(item.merchantId, 'INTERNAL', 'The notification is forwarded.');
  };
  return html`<${Confirm} title=${isRelease ? 'Release this notification?' : 'Discard this notification?'}
    action=${isRelease ? 'Release' : 'Discard'} isDangerous=${!isRelease} run=${run} onDone=${onDone} onClose=${onClose}>
    <p>${item.merchantId}, <code>${item.requestId}</code>: <${BothSides} item=${item} /></p>
    <p>${
      isRelease
        ? "It is forwarded to the merchant's internal endpoint, once, byte for byte."
        : 'It is never forwarded. This cannot be undone.'
    }</p>
  <//>`;
}
