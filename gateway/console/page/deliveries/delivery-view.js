import { get, pathOf, post } from '../api.js';
import { CopyButton } from '../shell/copy-button.js';
import { recordView } from '../shell/record.js';
import { linkTo } from '../shell/route.js';
import { Badge, Facts, merchantLink, Time, time } from '../shell/table.js';
import { html, Section } from '../shell/view.js';
import { formatAmount } from '../words/money.js';
import { endpointOf, holdOf, textOf } from '../words/words.js';
import { outcomeOf, pauseOf, readPauses, resumeDialog, waitingFor } from './dialogs.js';

/** One delivery with its attempts, and the pause of its endpoint when it is paused. */
export const DeliveryView = recordView({
  title: 'Delivery',
  id: 'delivery ID',
  everyMs: 3_000,
  read: async (deliveryId) => {
    const delivery = await get(pathOf`/deliveries/${deliveryId}`);
    const pauses = await readPauses(delivery.merchantId);
    return { ...delivery, paused: pauseOf(delivery, pauses) };
  },
  Body: Delivery,
});

const FACTS = [
  ['About', aboutOf],
  ['Merchant', merchantLink],
  ['Endpoint', endpointOf],
  ['Attempts', ({ attemptCount }) => String(attemptCount)],
  ['Created', time('createdAt')],
  ['Delivered', time('deliveredAt')],
  ['Next attempt', time('dueAt')],
];

function Delivery({ of: delivery, ask }) {
  const { state, statusInfo, paused, attempts, content } = delivery;
  return html`
    <section class="card" aria-label="Summary">
      <p class="row"><strong>Notification “${statusInfo}”</strong> <${Badge} word=${state} /></p>
      <${Facts} of=${delivery} facts=${FACTS} />
      <div class="buttons">
        <button type="button" class="main" onClick=${() => ask(replayDialog(delivery))}>Replay…</button>
      </div>
    </section>
    ${
      paused &&
      html`<div class="hint" role="note">
        <p><strong>${waitingFor(paused)}</strong> Nothing is sent to it meanwhile, and nothing is lost.</p>
        <button type="button" onClick=${() => ask(resumeDialog(paused))}>Resume endpoint…</button>
      </div>`
    }
    <${Section} title="Attempts"><${Attempts} attempts=${attempts} /><//>
    ${content && html`<${Content} ...${content} />`}
  `;
}

/** The attempts at a delivery, with what was answered. */
export function Attempts({ attempts }) {
  if (attempts.length === 0) return html`<p class="quiet">No attempt yet.</p>`;
  return html`<ol class="attempts">
    ${attempts.map(
      ({ number, startedAt, latencyMs, httpStatus, error, url, responseHead }) => html`<li key=${number}>
        <p>
          <span>Attempt ${number}</span> <${Time} at=${startedAt} />
          <span class=${error ? 'error' : 'good'}>${httpStatus ? `HTTP ${httpStatus}` : 'no answer'}</span>
          <span class="quiet">${latencyMs} ms</span>
        </p>
        ${url && html`<p class="quiet">${url}</p>`}
        ${error && html`<p class="error">${error}</p>`}
        ${responseHead && html`<details><summary>Start of the response</summary><pre>${responseHead}</pre></details>`}
      </li>`,
    )}
  </ol>`;
}

const replayDialog = ({ deliveryId, statusInfo, paused, ...delivery }) => ({
  title: 'Replay this delivery?',
  action: 'Replay',
  body: html`<p>The notification “${statusInfo}” is sent to ${delivery.merchantId} again, with the same
    webhook-id${paused ? ', once its endpoint is resumed' : ''}.</p>`,
  run: async () => {
    await post(pathOf`/deliveries/${deliveryId}/replay`);
    return outcomeOf(delivery, 'The delivery is sent again.');
  },
});

/** The operation that it is about, with the way to it, or to the hold that it belongs to. */
function aboutOf({ kind, requestId, operation }) {
  if (!operation) return html`${kind.toLowerCase()} <code>${requestId}</code>`;
  const { operation: what, amount, currency } = operation;
  const hold = holdOf({ ...operation, requestId });
  return html`<a href=${linkTo(['operations', requestId])}>${textOf(what)} of ${formatAmount(amount, currency)}</a>
    ${hold && html` · <a href=${linkTo(['holds', hold])}>its hold</a>`}
    <br /><code>${requestId}</code> <${CopyButton} text=${requestId} what="the request ID" />`;
}

const NO_ENDPOINT = 'The merchant has no such endpoint now. Every attempt fails until its contract names one.';

/**
 * What an attempt sends: address, headers, body. Tokens in the body and most of each signature are withheld by the
 * service.
 */
function Content({ url, headers, body }) {
  return html`<${Section} title="What is sent">
    ${url && html`<p><strong>POST</strong> <code>${url}</code> <${CopyButton} text=${url} what="the address" /></p>`}
    ${!url && html`<p class="hint">${NO_ENDPOINT}</p>`}
    <dl class="pairs">
      ${headers.map(({ name, value }) => html`<div><dt>${name}</dt><dd><code>${value}</code></dd></div>`)}
    </dl>
    <p><strong>Body</strong> ${body && html`<${CopyButton} text=${body} what="the body" />`}</p>
    ${body && html`<pre class="card" tabindex="0" aria-label="Body">${body}</pre>`}
    ${!body && html`<p class="quiet">The body was deleted at the end of its retention time.</p>`}
    <p class="quiet">As an attempt would send it now. Signatures are shortened, tokens are hidden.</p>
  <//>`;
}
