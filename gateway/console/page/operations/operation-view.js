import { get, pathOf } from '../api.js';
import { Contradictions } from '../reviews/contradictions.js';
import { correctDialog, isCorrectable } from '../reviews/correct.js';
import { recordView } from '../shell/record.js';
import { linkTo } from '../shell/route.js';
import { Badge, Facts, id, merchantLink, metadataOf, processorSaid, Time, time } from '../shell/table.js';
import { html, Section } from '../shell/view.js';
import { formatAmount } from '../words/money.js';
import { endpointOf, holdOf, textOf } from '../words/words.js';

export const OperationView = recordView({
  title: 'Operation',
  id: 'request ID',
  everyMs: 5_000,
  read: async (requestId) => {
    const [operation, { items }, { items: contradictions }] = await Promise.all([
      get(pathOf`/operations/${requestId}`),
      get('/deliveries', { requestId }),
      get('/contradictions', { requestId }),
    ]);
    return { ...operation, hold: holdOf(operation), deliveries: items, contradictions };
  },
  Body: Operation,
});

const FACTS = [
  ['Merchant', merchantLink],
  ["Merchant's reference", 'merchantReference'],
  ['Reason', 'reason'],
  ['Hold', id('hold', 'holds')],
  ['Capture', id('captureRequestId', 'operations')],
  ['Refund', id('refundRequestId', 'operations')],
  ['OCT', id('octRequestId', 'operations')],
  ['Corrects', id('correctsRequestId', 'operations')],
  ['Terminal', 'terminalId'],
  ['User', 'userId'],
  ["Processor's reference", 'reference'],
  ["Bank's reference", 'bankReference'],
  ['Processor said', processorSaid],
  ['Final', time('finalStateDate')],
];

function Operation({ of: operation, ask }) {
  const { status, statusInfo, amount, currency, deliveries, contradictions } = operation;
  return html`
    <section class="card" aria-label="Summary">
      <p class="row">
        <strong class="amount">${formatAmount(amount, currency)}</strong>
        <span>${textOf(operation.operation)}</span> <${Badge} word=${status} />
        <span class="quiet">${statusInfo}</span>
      </p>
      <${Facts} of=${operation} facts=${[...FACTS, ...metadataOf(operation)]} />
      <${Contradictions} of=${contradictions} />
      ${
        isCorrectable(operation) &&
        html`<div class="buttons">
          <button type="button" onClick=${() => ask(correctDialog(operation))}>Correct…</button>
        </div>`
      }
    </section>
    <${Section} title="Notifications">
      ${deliveries.length === 0 && html`<p class="empty">None was sent.</p>`}
      <ul class="lines">
        ${deliveries.map(
          ({ deliveryId, statusInfo, state, createdAt, ...endpoint }) => html`<li>
            <${Time} at=${createdAt} />
            <a href=${linkTo(['deliveries', deliveryId])}>“${statusInfo}” to the ${endpointOf(endpoint)} endpoint</a>
            <${Badge} word=${state} />
          </li>`,
        )}
      </ul>
    <//>
  `;
}
