import { html } from '../shell/html.js';
import { linkTo } from '../shell/route.js';
import { Facts } from '../shell/table.js';
import { formatAmount } from '../words/money.js';
import { Time } from '../words/time.js';
import { textOf } from '../words/words.js';
import { firstAmount } from './events.js';

/** What is known of a hold besides its money. */
export function HoldFacts({ hold }) {
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
export function AmountBar({ hold }) {
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
