import { formatAmount } from './money.js';
import { textOf } from './words.js';

/** What a processor contradicted, in the words of an operator. */
const WHAT = {
  RESULT: 'Another result',
  AMOUNT: 'Done for another amount',
  AMOUNT_RELEASED: 'Another amount given back',
  AMOUNT_ENDED: 'Ended with another amount',
  FOREIGN_CAPTURE: 'Charged by somebody else',
  EVENT_REFUSED: 'An event that cannot be booked',
  EVENT_ID_REUSED: 'Two events under one name',
};

const BY = { ANSWER: 'in its answer', INQUIRY: 'when it was asked again', EVENT: 'by the event' };

export function titleOf({ kind }) {
  return WHAT[kind] ?? textOf(kind);
}

/** Both sides of it, who told it how, and how it was resolved. */
export function sidesOf(contradiction) {
  const { processor, source, eventId, told, kept, toldAmount, keptAmount, currency, reference } = contradiction;
  const side = (word, amount) => [textOf(word), amountOf(amount, currency)].filter(Boolean).join(' ');
  const resolved = contradiction.resolvedAt && `resolved by ${contradiction.resolvedBy}: ${contradiction.resolution}`;
  return [
    `${processor} said ${[BY[source], eventId].filter(Boolean).join(' ')}: ${side(told, toldAmount)}`,
    `here: ${side(kept, keptAmount)}`,
    reference && `its reference ${reference}`,
    resolved,
  ]
    .filter(Boolean)
    .join(' · ');
}

function amountOf(amount, currency) {
  if (amount === undefined) return undefined;
  return currency ? formatAmount(amount, currency) : `${amount} in minor units`;
}
