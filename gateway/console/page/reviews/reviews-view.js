import { useState } from 'preact/hooks';
import { listReviews, resolveReview } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { CheckBox, Field, Select, TextArea } from '../shell/field.js';
import { html } from '../shell/html.js';
import { listView } from '../shell/list-view.js';
import { holdOf, nameOfKind } from '../words/kinds.js';
import { formatAmount } from '../words/money.js';
import { spanOf, Time } from '../words/time.js';
import { Badge, choicesOfWords, Id } from '../words/words.js';

const FIELDS = [
  { name: 'merchantId', label: 'Merchant' },
  { name: 'reason', label: 'Why', options: choicesOfWords('UNKNOWN', 'NEEDS_REVIEW', 'FROZEN') },
];

const COLUMNS = [
  { name: 'Why', cell: ({ reason }) => html`<${Badge} word=${reason} />` },
  {
    name: 'What',
    cell: ({ operation, lateVoid }) => (lateVoid ? 'Void of a late authorization' : nameOfKind(operation)),
  },
  { name: 'Amount', isNumber: true, cell: ({ amount, currency }) => formatAmount(amount, currency) },
  { name: 'Merchant', cell: ({ merchantId }) => merchantId },
  { name: 'Processor', cell: ({ processor }) => processor },
  { name: 'Hold', cell: (item) => html`<${Id} id=${holdOf(item) ?? item.requestId} of=${holdOf(item) && 'holds'} />` },
  { name: 'For', cell: ({ ageSeconds }) => spanOf(ageSeconds) },
  { name: 'Inquiries', isNumber: true, cell: ({ inquiryCount }) => inquiryCount },
  { name: 'Next inquiry', cell: ({ nextInquiryAt }) => html`<${Time} at=${nextInquiryAt} />` },
  {
    name: 'Decide',
    cell: (item, act) =>
      item.reason === 'UNKNOWN'
        ? html`<span class="quiet">inquiring</span>`
        : html`<button type="button" aria-label="Resolve ${item.requestId}"
          onClick=${() => act(item)}>Resolve…</button>`,
  },
];

/** Operations without a result, and frozen holds. No machine may guess how they ended. */
export const ReviewsView = listView({
  title: 'Needs attention',
  lead: 'Inquiries go on while an outcome is unknown. What they cannot settle is for you.',
  search: { path: ['reviews'], fields: FIELDS },
  Dialog: ResolveDialog,
  list: { read: listReviews, what: 'what waits', csv: 'needs-attention', empty: 'Nothing waits for you.' },
  table: {
    caption: 'What waits, oldest first',
    columns: COLUMNS,
    keyOf: ({ requestId, reason }) => `${requestId} ${reason}`,
  },
});

/** Says how an operation ended, or that a hold is frozen no more. Kept in the audit log with the reason. */
function ResolveDialog({ asked: item, onDone, onClose }) {
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
