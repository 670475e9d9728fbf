import { sidesOf, titleOf } from '../words/contradictions.js';
import { formatAmount } from '../words/money.js';
import { endOf, endpointOf } from '../words/words.js';

/** What happened to a hold, oldest first: `{ at, title, word?, detail?, delivery?, capture?, operation? }`. */
export function eventsOf(hold) {
  const { operations = [], captures = [], contradictions = [], deliveries = [] } = hold;
  const events = [
    asked(hold),
    ...captures.map(captureAsked),
    ...operations.filter(({ finalStateDate }) => finalStateDate).map((operation) => ended(operation, captures)),
    ...contradictions.flatMap(contradicted),
    ...deliveries.map(notified),
    ...planned(hold),
  ];
  // A result and its notification come of one transaction: what is equally old stays in this order.
  return events.filter(({ at }) => at).sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

function asked(hold) {
  const { createdAt, currency, merchantId, terminalId, userId, checkoutExpiresAt, nextAction, renews } = hold;
  const detail = [
    `${merchantId}, terminal ${terminalId}, user ${userId}`,
    renews && `renews ${renews}`,
    checkoutExpiresAt && 'the customer enters a card at the checkout',
    nextAction && "the customer is authenticated by the card's issuer",
  ];
  const title = `Hold of ${formatAmount(firstAmount(hold), currency)} asked for`;
  return { at: createdAt, title, detail: detail.filter(Boolean).join('; ') };
}

/** What a hold was asked for: without its increments, which its own result does not contain. */
export function firstAmount({ amount, operations = [] }) {
  return operations.find(({ operation }) => operation === 'HOLD')?.amount ?? amount;
}

/** What the merchant has asked for in advance. */
function planned(hold) {
  const { phase, captureAt, releaseAt, keepUntil } = hold;
  if (phase !== 'AUTHORIZED') return [];
  return [
    { at: captureAt, title: 'What remains is captured by itself' },
    { at: releaseAt, title: 'What remains is released by itself' },
    { at: renewalDue(hold), title: 'What remains is authorized anew before this' },
    { at: keepUntil, title: 'It no longer renews itself' },
  ].filter(({ at }) => Date.parse(at) > Date.now());
}

/** Before when a hold that is kept renews itself: the end of its present authorization; undefined = not any more. */
export function renewalDue({ keepUntil, captureAt, releaseAt, guaranteedUntil, expiresAt, frozen }) {
  const end = guaranteedUntil ?? expiresAt;
  if (!keepUntil || !end || frozen) return undefined;
  const needed = Math.min(...[keepUntil, captureAt, releaseAt].filter(Boolean).map(Date.parse));
  return needed > Date.parse(end) ? end : undefined;
}

function captureAsked({ createdAt, amount, currency, finalCapture, status }) {
  return {
    at: createdAt,
    title: `${finalCapture ? 'Last capture' : 'Capture'} of ${formatAmount(amount, currency)} asked for`,
    word: ['OK', 'KO'].includes(status) ? undefined : status,
  };
}

function ended(operation, captures) {
  const { requestId, status, amount, currency, finalStateDate, reference, bankReference, reason } = operation;
  const detail = [
    reason,
    operation.processorMessage ?? operation.processorCode,
    reference && `processor's reference ${reference}`,
    bankReference && `bank's reference ${bankReference}`,
    operation.refundRequestId && `of the refund ${operation.refundRequestId}`,
    operation.correctsRequestId && `of ${operation.correctsRequestId}`,
  ];
  const end = endOf(operation);
  return {
    at: finalStateDate,
    // An extension has no amount.
    title: amount > 0 ? `${end}: ${formatAmount(amount, currency)}` : end,
    word: status,
    detail: detail.filter(Boolean).join(' · '),
    capture: captures.find((capture) => capture.requestId === requestId),
    operation,
  };
}

/** When the processor told it, and when somebody resolved it. */
function contradicted(contradiction) {
  const { at, resolvedAt, resolvedBy, resolution } = contradiction;
  const { resolvedAt: _, ...open } = contradiction;
  return [
    { at, title: titleOf(contradiction), word: resolvedAt ? undefined : 'CONTRADICTED', detail: sidesOf(open) },
    { at: resolvedAt, title: `Resolved: ${titleOf(contradiction)}`, detail: `${resolvedBy}: ${resolution}` },
  ];
}

function notified(delivery) {
  const { createdAt, statusInfo, state } = delivery;
  return {
    at: createdAt,
    title: `Notification “${statusInfo}” to the ${endpointOf(delivery)} endpoint`,
    word: state,
    delivery,
  };
}
