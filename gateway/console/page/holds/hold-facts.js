import { html } from '../shell/html.js';
import { linkTo } from '../shell/route.js';
import { Time } from '../words/time.js';

/** What is known of a hold besides its money. */
export function HoldFacts({ hold }) {
  const card = hold.paymentMethodData;
  const facts = [
    ['Merchant', html`<a href=${linkTo(['merchants', hold.merchantId])}>${hold.merchantId}</a>`],
    ["Merchant's reference", hold.merchantReference],
    ['Terminal', hold.terminalId],
    ['User', hold.userId],
    ['Card', card && [card.brand, card.last4 && `ending in ${card.last4}`].filter(Boolean).join(' ')],
    ["Processor's reference", hold.reference],
    ['Processor said', [hold.processorCode, hold.processorMessage].filter(Boolean).join(': ')],
    ['Why released', hold.releaseReason && REASONS[hold.releaseReason]],
    ['Asked for', html`<${Time} at=${hold.createdAt} />`],
    ['Placed', hold.placedAt && html`<${Time} at=${hold.placedAt} />`],
    ['Ends', hold.expiresAt && html`<${Time} at=${hold.expiresAt} />`],
    ['Closed', hold.closedAt && html`<${Time} at=${hold.closedAt} />`],
    ...Object.entries(hold.metadata ?? {}),
  ];
  return html`<dl class="facts">
    ${facts.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

const REASONS = {
  FINAL: 'The last capture closed the hold',
  RELEASED: 'The merchant or an operator released it',
  EXPIRED: 'Its period ended',
};
