import { useState } from 'preact/hooks';
import { resolveReview } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { CheckBox, Field, Select, TextArea } from '../shell/field.js';
import { html } from '../shell/html.js';
import { holdOf, nameOfKind } from '../words/kinds.js';
import { formatAmount } from '../words/money.js';

/** Says how an operation ended, or that a hold is frozen no more. Kept in the audit log with the reason. */
export function ResolveDialog({ asked: item, onDone, onClose }) {
  const { requestId, processorRequestId, reason, operation, amount, currency, merchantId } = item;
  const isFrozen = reason === 'FROZEN';
  const [outcome, setOutcome] = useState('');
  const run = async (form) => {
    const { unfreezeHold, unfenced, ...decision } = Object.fromEntries(form);
    await resolveReview(requestId, {
      ...decision,
      ...(unfenced && { unfenced: true }),
      ...((unfreezeHold || isFrozen) && { unfreezeHold: true }),
    });
    return 'Resolved.';
  };
  return html`<${Confirm} title=${isFrozen ? 'End the freezing of this hold?' : 'How did it end?'} action="Resolve"
    isDangerous
    run=${run} onDone=${onDone} onClose=${onClose}>
    <p>${nameOfKind(operation)} of ${formatAmount(amount, currency)} for ${merchantId}, <code>${requestId}</code></p>
    ${processorRequestId && html`<p>The processor knows it as <code>${processorRequestId}</code></p>`}
    ${
      !isFrozen &&
      html`<p>The processor is asked once more before. What you say is final, and the merchant is notified of it.</p>
        <${Select} name="outcome" label="Outcome" value=${outcome} required
          onChange=${(event) => setOutcome(event.target.value)}
          options=${[['', 'Choose'], ['OK', 'OK: the processor did it'], ['KO', 'KO: the processor did not do it']]} />`
    }
    ${
      outcome === 'OK' &&
      html`<${Field} name="processorReference" label="Processor's reference" maxlength="64" />
        <${Field} name="bankReference" label="Bank's reference" maxlength="64" />`
    }
    ${
      outcome === 'KO' &&
      html`<${Field} name="processorCode" label="Processor's code" maxlength="64"
        hint="Left empty: resolved_by_operator" />
        <${Field} name="processorMessage" label="Processor's message" maxlength="500" />`
    }
    ${
      outcome !== '' &&
      html`<${CheckBox} name="unfenced" value="true"
        label="Decide although the processor does not answer: it may perform it yet" />`
    }
    <${TextArea} name="reason" label="How do you know?" required maxlength="500" hint="Kept in the audit log." />
    ${
      !isFrozen &&
      holdOf(item) &&
      html`<${CheckBox} name="unfreezeHold" value="true" label="End the freezing of its hold, if it is frozen" />`
    }
  <//>`;
}
