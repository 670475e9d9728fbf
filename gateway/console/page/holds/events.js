import { endOf } from '../words/kinds.js';
import { formatAmount } from '../words/money.js';

/** What happened to a hold, oldest first: `{ at, title, word?, detail?, delivery? }`. */
export function eventsOf(hold) {
  const { operations = [], captures = [], deliveries = [] } = hold;
  const events = [
    asked(hold),
    ...captures.map((capture) => captureAsked(capture)),
    ...operations.filter(({ finalStateDate }) => finalStateDate).map((operation) => ended(operation)),
    ...deliveries.map((delivery) => notified(delivery)),
  ];
  // A result and its notification come of one transaction: what is equally old stays in this order.
  return events.filter(({ at }) => at).sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

function asked({ createdAt, amount, currency, merchantId, terminalId, userId, checkoutExpiresAt }) {
  const where = `${merchantId}, terminal ${terminalId}, user ${userId}`;
  const detail = checkoutExpiresAt ? `${where}; the customer enters a card at the checkout` : where;
  return { at: createdAt, title: `Hold of ${formatAmount(amount, currency)} asked for`, detail };
}

function captureAsked({ createdAt, amount, currency, finalCapture, status }) {
  const isOpen = status !== 'OK' && status !== 'KO';
  return {
    at: createdAt,
    title: `${finalCapture ? 'Last capture' : 'Capture'} of ${formatAmount(amount, currency)} asked for`,
    ...(isOpen && { word: status }),
  };
}

function ended(operation) {
  const { status, amount, currency, finalStateDate } = operation;
  const { reference, bankReference, processorCode, processorMessage } = operation;
  const detail = [
    processorMessage ?? processorCode,
    reference && `processor's reference ${reference}`,
    bankReference && `bank's reference ${bankReference}`,
  ];
  return {
    at: finalStateDate,
    title: `${endOf(operation)}: ${formatAmount(amount, currency)}`,
    word: status,
    detail: detail.filter(Boolean).join(' · '),
  };
}

function notified(delivery) {
  const { createdAt, statusInfo, endpointKind, state } = delivery;
  return {
    at: createdAt,
    title: `Notification “${statusInfo}” to the ${endpointKind.toLowerCase()} endpoint`,
    word: state,
    delivery,
  };
}
