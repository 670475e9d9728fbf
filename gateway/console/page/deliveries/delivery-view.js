import { useState } from 'preact/hooks';
import { readDelivery, replayDelivery } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { html } from '../shell/html.js';
import { Loaded, useLoad } from '../shell/load.js';
import { notify } from '../shell/notice.js';
import { linkTo } from '../shell/route.js';
import { View } from '../shell/view.js';
import { Time } from '../words/time.js';
import { Badge, ENDPOINTS } from '../words/words.js';
import { Attempts } from './attempts.js';

const REFRESH_MS = 3_000;

/** One delivery with its attempts. */
export function DeliveryView({ id }) {
  const delivery = useLoad(() => readDelivery(id), id, REFRESH_MS);
  const [isAsking, setAsking] = useState(false);
  const done = () => {
    setAsking(false);
    notify('The delivery is sent again.');
    delivery.reload();
  };
  return html`<${View} title="Delivery">
    <p class="lead"><code>${id}</code></p>
    <${Loaded} of=${delivery} what="the delivery">
      ${(value) => html`
        <${Facts} delivery=${value} onReplay=${() => setAsking(true)} />
        <section aria-labelledby="attempts">
          <h2 id="attempts">Attempts</h2>
          <${Attempts} attempts=${value.attempts} />
        </section>
        ${
          isAsking &&
          html`<${Confirm} title="Replay this delivery?" action="Replay" run=${() => replayDelivery(id)} onDone=${done} onClose=${() => setAsking(false)}>
            <p>The notification “${value.statusInfo}” is sent to ${value.merchantId} again, with the same webhook-id.</p>
          <//>`
        }
      `}
    <//>
  <//>`;
}

function Facts({ delivery, onReplay }) {
  const { state, statusInfo, kind, merchantId, endpointKind, requestId, attemptCount, createdAt, deliveredAt, dueAt } =
    delivery;
  const facts = [
    ['About', html`${kind.toLowerCase()} ${requestId}`],
    ['Merchant', html`<a href=${linkTo(['merchants', merchantId])}>${merchantId}</a>`],
    ['Endpoint', ENDPOINTS[endpointKind] ?? endpointKind],
    ['Attempts', String(attemptCount)],
    ['Created', html`<${Time} at=${createdAt} />`],
    ['Delivered', deliveredAt && html`<${Time} at=${deliveredAt} />`],
    ['Next attempt', dueAt && html`<${Time} at=${dueAt} />`],
  ];
  return html`<section class="card" aria-label="Summary">
    <p class="headline"><strong>Notification “${statusInfo}”</strong> <${Badge} word=${state} /></p>
    <dl class="facts">
      ${facts.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
    </dl>
    <div class="buttons"><button type="button" class="main" onClick=${onReplay}>Replay…</button></div>
  </section>`;
}
