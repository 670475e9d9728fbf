import { pathOf, post } from '../api.js';
import { Field } from '../shell/form.js';
import { html } from '../shell/view.js';
import { formatAmount } from '../words/money.js';
import { textOf } from '../words/words.js';
import { Contradictions, openOf } from './contradictions.js';

const CORRECTABLE = ['CAPTURE', 'PARTIAL_RELEASE', 'INCREMENT', 'REFUND', 'OCT'];

/** Whether how an operation ended can be corrected. */
export function isCorrectable({ operation, status }) {
  return CORRECTABLE.includes(operation) && ['OK', 'KO'].includes(status);
}

const OUTCOMES = { '': 'Choose', OK: 'OK: it was done after all', KO: 'KO: it was not done' };

/** Says that an operation ended otherwise than was told. Kept in the audit log with the reason. */
export const correctDialog = ({ requestId, operation, status, amount, currency, merchantId, contradictions }) => ({
  title: 'How did it end in truth?',
  action: 'Correct',
  tone: 'danger',
  body: html`
    <p>
      ${textOf(operation)} of ${formatAmount(amount, currency)} for ${merchantId}, told as ${status},
      <code>${requestId}</code>
    </p>
    <${Contradictions} of=${openOf(contradictions)} />
    <p>
      The books are moved, and the merchant is notified. Its hold is not frozen any more. The processor is not asked:
      correct only what you have seen in its books.
    </p>
    <${Field} name="outcome" label="Outcome" required options=${OUTCOMES} />
    <${Field} rows="3" name="reason" label="How do you know?" required maxlength="500" hint="Kept in the audit log." />
  `,
  run: (form) => post(pathOf`/reviews/${requestId}/correct`, Object.fromEntries(form)),
  done: () => 'Corrected.',
});
