import { readDelivery, replayDelivery } from '../api.js';
import { CopyButton } from '../shell/copy-button.js';
import { Confirm, useDialog } from '../shell/dialog.js';
import { html } from '../shell/html.js';
import { Loaded, useLoad } from '../shell/load.js';
import { linkTo } from '../shell/route.js';
import { Facts } from '../shell/table.js';
import { View } from '../shell/view.js';
import { nameOfKind } from '../words/kinds.js';
import { formatAmount } from '../words/money.js';
import { Time } from '../words/time.js';
import { Badge, ENDPOINTS } from '../words/words.js';
import { Attempts } from './attempts.js';
import { outcomeOf, PausedHint, ResumeDialog, readPauses } from './pause.js';

const REFRESH_MS = 3_000;

/** One delivery with its attempts. */
export function DeliveryView({ id }) {
  const delivery = useLoad(() => readWithPause(id), id, REFRESH_MS);
  const { asked, ask, done, close } = useDialog(delivery.reload);
  const replay = async ({ merchantId, endpointKind }) => {
    await replayDelivery(id);
    return outcomeOf(merchantId, endpointKind, 'The delivery is sent again.');
  };
  return html`<${View} title="Delivery">
    <p class="lead"><code>${id}</code> <${CopyButton} text=${id} what="the delivery ID" isSmall /></p>
    <${Loaded} of=${delivery} what="the delivery">
      ${(value) => html`
        <${Summary} delivery=${value} onReplay=${() => ask('replay')} />
        ${value.paused && html`<${PausedHint} endpoint=${value.paused} onResume=${() => ask('resume')} />`}
        <section aria-labelledby="attempts">
          <h2 id="attempts">Attempts</h2>
          <${Attempts} attempts=${value.attempts} />
        </section>
        ${value.content && html`<${Content} content=${value.content} />`}
        ${
          asked === 'replay' &&
          html`<${Confirm} title="Replay this delivery?" action="Replay" run=${() => replay(value)} onDone=${done}
            onClose=${close}>
            <p>The notification “${value.statusInfo}” is sent to ${value.merchantId} again, with the same
              webhook-id${value.paused ? ', once its endpoint is resumed' : ''}.</p>
          <//>`
        }
        ${
          asked === 'resume' &&
          value.paused &&
          html`<${ResumeDialog} asked=${value.paused} onDone=${done} onClose=${close} />`
        }
      `}
    <//>
  <//>`;
}

/** The delivery, and the pause of its endpoint when it is paused. */
async function readWithPause(id) {
  const delivery = await readDelivery(id);
  const pauses = await readPauses(delivery.merchantId);
  return { ...delivery, paused: pauses.find(({ endpointKind }) => endpointKind === delivery.endpointKind) };
}

function Summary({ delivery, onReplay }) {
  const { state, statusInfo, merchantId, endpointKind, attemptCount, createdAt, deliveredAt, dueAt } = delivery;
  const facts = [
    ['About', html`<${About} delivery=${delivery} />`],
    ['Merchant', html`<a href=${linkTo(['merchants', merchantId])}>${merchantId}</a>`],
    ['Endpoint', ENDPOINTS[endpointKind] ?? endpointKind],
    ['Attempts', String(attemptCount)],
    ['Created', html`<${Time} at=${createdAt} />`],
    ['Delivered', deliveredAt && html`<${Time} at=${deliveredAt} />`],
    ['Next attempt', dueAt && html`<${Time} at=${dueAt} />`],
  ];
  return html`<section class="card" aria-label="Summary">
    <p class="headline"><strong>Notification “${statusInfo}”</strong> <${Badge} word=${state} /></p>
    <${Facts} of=${facts} />
    <div class="buttons"><button type="button" class="main" onClick=${onReplay}>Replay…</button></div>
  </section>`;
}

/** The operation that it is about, with the way to it, or to the hold that it belongs to. */
function About({ delivery: { kind, requestId, operation } }) {
  if (!operation) return html`${kind.toLowerCase()} <code>${requestId}</code>`;
  const { operation: what, amount, currency, holdRequestId } = operation;
  const hold = what === 'HOLD' ? requestId : holdRequestId;
  return html`<a href=${linkTo(['operations', requestId])}>${nameOfKind(what)} of ${formatAmount(amount, currency)}</a>
    ${hold && html` · <a href=${linkTo(['holds', hold])}>its hold</a>`}
    <br /><code>${requestId}</code> <${CopyButton} text=${requestId} what="the request ID" isSmall />`;
}

/**
 * What an attempt sends: address, headers, body. Tokens in the body and most of each signature are withheld by the
 * service.
 */
function Content({ content: { url, headers, body } }) {
  return html`<section aria-labelledby="sends">
    <h2 id="sends">What is sent</h2>
    ${
      url
        ? html`<p><strong>POST</strong> <code>${url}</code> <${CopyButton} text=${url} what="the address"
          isSmall /></p>`
        : html`<p class="hint">
            The merchant has no such endpoint now. Every attempt fails until its contract names one.</p>`
    }
    ${
      headers.length > 0 &&
      html`<dl class="headers">
        ${headers.map(({ name, value }) => html`<div><dt>${name}</dt><dd><code>${value}</code></dd></div>`)}
      </dl>`
    }
    ${
      body
        ? html`<div class="body"><${CopyButton} text=${body} what="the body" /><pre tabindex="0"
          aria-label="Body">${body}</pre></div>`
        : html`<p class="quiet">The body was deleted at the end of its retention time.</p>`
    }
    <p class="quiet">As an attempt would send it now. Signatures are shortened, tokens are hidden.</p>
  </section>`;
}
