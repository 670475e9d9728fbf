import { useRef } from 'preact/hooks';
import { readDelivery, readHold } from '../api.js';
import { Attempts } from '../deliveries/attempts.js';
import { CopyButton } from '../shell/copy-button.js';
import { useDialog } from '../shell/dialog.js';
import { html } from '../shell/html.js';
import { Loaded, useLoad } from '../shell/load.js';
import { linkTo } from '../shell/route.js';
import { Facts } from '../shell/table.js';
import { View } from '../shell/view.js';
import { formatAmount } from '../words/money.js';
import { Time } from '../words/time.js';
import { Badge, textOf } from '../words/words.js';
import { CaptureDialog, ExtendDialog, IncrementDialog, RefundDialog, ReleaseDialog, refundable } from './dialogs.js';
import { eventsOf, firstAmount } from './events.js';

/** Something about a hold may change at any moment; while something is on its way it soon will. */
const REFRESH_MS = 3_000;
/** Deliveries of which the attempts are shown. */
const TOLD = 20;

/** One hold, from the request to the last delivery attempt, and what can be done with it. */
export function HoldView({ id }) {
  const attempts = useRef(new Map());
  const hold = useLoad(() => readStory(id, attempts.current), id, REFRESH_MS);
  const { asked, ask, done, close } = useDialog(hold.reload);
  return html`<${View} title="Hold">
    <p class="lead"><code>${id}</code> <${CopyButton} text=${id} what="the request ID" isSmall /></p>
    <${Loaded} of=${hold} what="the hold">
      ${(value) => html`
        <${Summary} hold=${value} ask=${(dialog) => ask({ dialog })} />
        <section aria-labelledby="timeline">
          <h2 id="timeline">Timeline</h2>
          <${Timeline} hold=${value} onRefund=${(of) => ask({ dialog: RefundDialog, of })} />
        </section>
        <section aria-labelledby="facts">
          <h2 id="facts">Details</h2>
          <${HoldFacts} hold=${value} />
        </section>
        ${asked && html`<${asked.dialog} hold=${value} of=${asked.of} onDone=${done} onClose=${close} />`}
      `}
    <//>
  <//>`;
}

function Summary({ hold, ask }) {
  const { amount, currency, status, frozen, expiresAt } = hold;
  return html`<section class="card" aria-label="Summary">
    <p class="headline">
      <strong class="amount">${formatAmount(amount, currency)}</strong>
      <${Badge} word=${status} /> ${frozen && html`<${Badge} word="FROZEN" />`}
      ${isOpen(hold) && expiresAt && html`<span class="quiet">ends <${Time} at=${expiresAt} /></span>`}
    </p>
    <${AmountBar} hold=${hold} />
    ${
      isReleasable(hold) &&
      html`<div class="buttons">
        ${
          isCapturable(hold) &&
          html`<button type="button" class="main" onClick=${() => ask(CaptureDialog)}>Capture…</button>
            <button type="button" onClick=${() => ask(IncrementDialog)}>Increment…</button>
            <button type="button" onClick=${() => ask(ExtendDialog)}>Extend…</button>`
        }
        <button type="button" onClick=${() => ask(ReleaseDialog)}>Release…</button>
      </div>`
    }
  </section>`;
}

/** What happened to a hold, in order: requests, results, and each notification with its delivery attempts. */
function Timeline({ hold, onRefund }) {
  return html`<ol class="timeline">
    ${eventsOf(hold).map(
      ({ at, title, word, detail, delivery, capture }) => html`<li class=${delivery ? 'delivery' : ''}>
        <p class="headline">
          <${Time} at=${at} />
          <span class="title">${
            delivery ? html`<a href=${linkTo(['deliveries', delivery.deliveryId])}>${title}</a>` : title
          }</span>
          ${word && html`<${Badge} word=${word} />`}
          ${
            capture &&
            !hold.frozen &&
            refundable(capture) > 0 &&
            html`<button type="button" onClick=${() => onRefund(capture)}>
              Refund…<span class="hidden"> the capture of ${formatAmount(capture.amount, capture.currency)}</span>
            </button>`
          }
        </p>
        ${detail && html`<p class="quiet">${detail}</p>`}
        ${delivery?.attempts && html`<${Attempts} attempts=${delivery.attempts} />`}
      </li>`,
    )}
  </ol>`;
}

/** The hold, its newest deliveries with their attempts. `known` keeps those attempts that cannot have changed since. */
async function readStory(id, known) {
  const hold = await readHold(id);
  const told = hold.deliveries.slice(-TOLD).map(async (delivery) => {
    const { deliveryId, attemptCount, state } = delivery;
    const key = [deliveryId, attemptCount, state].join(' ');
    if (!known.has(key)) known.set(key, (await readDelivery(deliveryId)).attempts);
    return { ...delivery, attempts: known.get(key) };
  });
  return { ...hold, deliveries: [...hold.deliveries.slice(0, -TOLD), ...(await Promise.all(told))] };
}

function isOpen({ status, amountRemaining }) {
  return ['IN_PROGRESS', 'PARTIALLY_CAPTURED'].includes(status) && amountRemaining > 0;
}

function isCapturable(hold) {
  return isReleasable(hold) && hold.phase === 'AUTHORIZED';
}

function isReleasable(hold) {
  return isOpen(hold) && !hold.frozen && ['AUTHORIZED', 'AWAITING_CHECKOUT'].includes(hold.phase);
}

/** What is known of a hold besides its money. */
function HoldFacts({ hold }) {
  const card = hold.paymentMethodData;
  const facts = [
    ['Phase', textOf(hold.phase)],
    ['Merchant', html`<a href=${linkTo(['merchants', hold.merchantId])}>${hold.merchantId}</a>`],
    ["Merchant's reference", hold.merchantReference],
    ['Description', hold.description],
    ['Customer', hold.customerPresent ? 'Present' : 'Absent: the merchant initiated it'],
    ['Capture expected', hold.expectedCaptureAt && html`<${Time} at=${hold.expectedCaptureAt} />`],
    ['Renews', hold.renews && html`<a href=${linkTo(['holds', hold.renews])}><code>${hold.renews}</code></a>`],
    ['Captured by itself', hold.captureAt && html`<${Time} at=${hold.captureAt} />`],
    ['Ends early', hold.releaseAt && html`<${Time} at=${hold.releaseAt} />`],
    ['Terminal', hold.terminalId],
    ['User', hold.userId],
    ['Card', card && [card.brand, card.funding, card.last4 && `ending in ${card.last4}`].filter(Boolean).join(' ')],
    ['3-D Secure', card?.threeDSecure],
    ["Network's decline code", card?.declineCode],
    ["Processor's reference", hold.reference],
    ['Processor said', [hold.processorCode, hold.processorMessage].filter(Boolean).join(': ')],
    ['Why released', hold.releaseReason && REASONS[hold.releaseReason]],
    ['Asked for', html`<${Time} at=${hold.createdAt} />`],
    ['Placed', hold.placedAt && html`<${Time} at=${hold.placedAt} />`],
    ['Ends', hold.expiresAt && html`<${Time} at=${hold.expiresAt} />`],
    ['Closed', hold.closedAt && html`<${Time} at=${hold.closedAt} />`],
    ...Object.entries(hold.metadata ?? {}),
  ];
  return html`<${Facts} of=${facts} />`;
}

const REASONS = {
  FINAL: 'The last capture closed the hold',
  RELEASED: 'The merchant or an operator released it',
  EXPIRED: 'Its period ended',
};

const PARTS = [
  ['amountCaptured', 'Captured', 'good'],
  ['amountInFlight', 'In flight', 'wait'],
  ['amountRemaining', 'Remaining', 'rest'],
  ['amountReleased', 'Released', 'calm'],
];

/** How a hold's amount is divided: amount = captured + in flight + remaining + released, once it is placed. */
function AmountBar({ hold }) {
  const { amount, currency, amountReversed, amountRefunded } = hold;
  const added = amount - firstAmount(hold);
  let x = 0;
  return html`
    <svg class="division" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      ${PARTS.map(([field, , tone]) => {
        const width = ((hold[field] ?? 0) / amount) * 100;
        const start = x;
        x += width;
        return width > 0 && html`<rect class=${tone} x=${start} y="0" width=${width} height="4" />`;
      })}
    </svg>
    <dl class="parts">
      ${PARTS.map(
        ([field, name, tone]) => html`<div>
          <dt><span class="key ${tone}"></span> ${name}</dt>
          <dd>${formatAmount(hold[field] ?? 0, currency)}</dd>
        </div>`,
      )}
    </dl>
    ${added > 0 && html`<p class="hint">${formatAmount(added, currency)} was added by increments.</p>`}
    ${
      amountRefunded > 0 &&
      html`<p class="hint">${formatAmount(amountRefunded, currency)} of what was captured was refunded.</p>`
    }
    ${
      amountReversed > 0 &&
      html`<p class="hint">${formatAmount(amountReversed, currency)} of what was captured was reversed.</p>`
    }
  `;
}
