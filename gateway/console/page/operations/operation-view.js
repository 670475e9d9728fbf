import { listDeliveries, readOperation } from '../api.js';
import { CopyButton } from '../shell/copy-button.js';
import { html } from '../shell/html.js';
import { Loaded, useLoad } from '../shell/load.js';
import { linkTo } from '../shell/route.js';
import { Facts } from '../shell/table.js';
import { View } from '../shell/view.js';
import { nameOfKind } from '../words/kinds.js';
import { formatAmount } from '../words/money.js';
import { Time } from '../words/time.js';
import { Badge, ENDPOINTS, Id } from '../words/words.js';

const REFRESH_MS = 5_000;

/** One operation: its result, where it belongs, and its notifications. */
export function OperationView({ id }) {
  const operation = useLoad(() => readOperation(id), id, REFRESH_MS);
  const deliveries = useLoad(() => listDeliveries({ requestId: id }), id, REFRESH_MS);
  return html`<${View} title="Operation">
    <p class="lead"><code>${id}</code> <${CopyButton} text=${id} what="the request ID" isSmall /></p>
    <${Loaded} of=${operation} what="the operation">${(value) => html`<${Summary} operation=${value} />`}<//>
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">Notifications</h2>
      <${Loaded} of=${deliveries} what="its notifications">
        ${({ items }) =>
          items.length === 0
            ? html`<p class="empty">None was sent.</p>`
            : html`<ul class="lines">
                ${items.map(
                  ({ deliveryId, statusInfo, endpointKind, state, createdAt }) => html`<li>
                    <${Time} at=${createdAt} />
                    <a href=${linkTo(['deliveries', deliveryId])}>
                      “${statusInfo}” to the ${ENDPOINTS[endpointKind]} endpoint
                    </a>
                    <${Badge} word=${state} />
                  </li>`,
                )}
              </ul>`}
      <//>
    </section>
  <//>`;
}

function Summary({ operation }) {
  const {
    operation: what,
    status,
    statusInfo,
    amount,
    currency,
    merchantId,
    holdRequestId,
    captureRequestId,
  } = operation;
  const hold = what === 'HOLD' ? operation.requestId : holdRequestId;
  const facts = [
    ['Merchant', html`<a href=${linkTo(['merchants', merchantId])}>${merchantId}</a>`],
    ["Merchant's reference", operation.merchantReference],
    ['Hold', hold && html`<${Id} id=${hold} of="holds" />`],
    ['Capture', captureRequestId && html`<${Id} id=${captureRequestId} of="operations" />`],
    ['Terminal', operation.terminalId],
    ['User', operation.userId],
    ["Processor's reference", operation.reference],
    ["Bank's reference", operation.bankReference],
    ['Processor said', [operation.processorCode, operation.processorMessage].filter(Boolean).join(': ')],
    ['Final', operation.finalStateDate && html`<${Time} at=${operation.finalStateDate} />`],
  ];
  return html`<section class="card" aria-label="Summary">
    <p class="headline">
      <strong class="amount">${formatAmount(amount, currency)}</strong>
      <span>${nameOfKind(what)}</span> <${Badge} word=${status} /> <span class="quiet">${statusInfo}</span>
    </p>
    <${Facts} of=${facts} />
  </section>`;
}
