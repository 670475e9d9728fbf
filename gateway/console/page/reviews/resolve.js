import { useState } from 'preact/hooks';
import { pathOf, post } from '../api.js';
import { CheckBox, Field } from '../shell/form.js';
import { html } from '../shell/view.js';
import { formatAmount } from '../words/money.js';
import { holdOf, textOf } from '../words/words.js';
import { Contradictions, openOf } from './contradictions.js';

/** Says how an operation ended, or that a hold is frozen no more. Kept in the audit log with the reason. */
export function resolveDialog(item) {
  const isFrozen = item.reason === 'FROZEN';
  return {
    title: isFrozen ? 'End the freezing of this hold?' : 'How did it end?',
    action: 'Resolve',
    tone: 'danger',
    body: html`<${Question} item=${item} isFrozen=${isFrozen} />`,
    run: (form) => {
      const decision = Object.fromEntries(form);
      const unfenced = form.has('unfenced') || undefined;
      const unfreezeHold = isFrozen || form.has('unfreezeHold') || undefined;
      return post(pathOf`/reviews/${item.requestId}/resolve`, { ...decision, unfenced, unfreezeHold });
    },
    done: ({ overruled, operation, frozen }) => {
      if (!overruled) return 'Resolved.';
      const stays = frozen ? ' Its hold stays frozen.' : '';
      return `The processor said otherwise, and its word counts: ${operation?.status ?? 'see the operation'}.${stays}`;
    },
  };
}

/** Says that somebody has looked at what freezes no hold. */
export function acknowledgeDialog(item) {
  return {
    title: 'Have you looked at it?',
    action: 'Acknowledge',
    body: html`
      <p>Nothing else is changed by this. What is wrong must be put right with the processor.</p>
      <${Contradictions} of=${item.contradictions} />
      <${Field} rows="3" name="reason" label="What did you find?" required maxlength="500" hint="Kept in the audit log." />
    `,
    run: (form) => post(pathOf`/reviews/${item.requestId}/acknowledge`, Object.fromEntries(form)),
    done: () => 'Acknowledged.',
  };
}

/** The same for a frozen hold, from its own page. */
export function unfreezeDialog({ requestId, amount, currency, merchantId, contradictions }) {
  const open = openOf(contradictions).toReversed();
  const item = { requestId, operation: 'HOLD', amount, currency, merchantId, reason: 'FROZEN', contradictions: open };
  return resolveDialog(item);
}

const OUTCOMES = { '': 'Choose', OK: 'OK: the processor did it', KO: 'KO: the processor did not do it' };

function Question({ item, isFrozen }) {
  const { requestId, processorRequestId, operation, amount, currency, merchantId } = item;
  const [outcome, setOutcome] = useState('');
  return html`
    <p>${textOf(operation)} of ${formatAmount(amount, currency)} for ${merchantId}, <code>${requestId}</code></p>
    <${Contradictions} of=${item.contradictions} />
    ${processorRequestId && html`<p>The processor knows it as <code>${processorRequestId}</code></p>`}
    ${
      !isFrozen &&
      html`<p>The processor is asked once more before. What you say is final, and the merchant is notified of it.</p>
        <${Field} name="outcome" label="Outcome" value=${outcome} required options=${OUTCOMES}
          onChange=${(event) => setOutcome(event.target.value)} />`
    }
    ${FIELDS[outcome]}
    ${
      outcome !== '' &&
      html`<${CheckBox} name="unfenced" label="Decide although the processor does not answer: it may perform it yet" />`
    }
    <${Field} rows="3" name="reason" label="How do you know?" required maxlength="500" hint="Kept in the audit log." />
    ${
      !isFrozen &&
      holdOf(item) &&
      html`<${CheckBox} name="unfreezeHold" label="End the freezing of its hold, if it is frozen" />`
    }
  `;
}

/** With keys, so that what was typed for one outcome does not stay for the other. */
const FIELDS = {
  OK: html`<${Field} key="reference" name="processorReference" label="Processor's reference" maxlength="64" />
    <${Field} key="bank" name="bankReference" label="Bank's reference" maxlength="64" />`,
  KO: html`<${Field} key="code" name="processorCode" label="Processor's code" maxlength="64"
      hint="Left empty: resolved_by_operator" />
    <${Field} key="message" name="processorMessage" label="Processor's message" maxlength="500" />`,
};
