import { get, pathOf } from '../api.js';
import { Attempts } from '../deliveries/delivery-view.js';
import { Contradictions, openOf } from '../reviews/contradictions.js';
import { correctDialog, isCorrectable } from '../reviews/correct.js';
import { unfreezeDialog } from '../reviews/resolve.js';
import { recordView } from '../shell/record.js';
import { linkTo } from '../shell/route.js';
import { Badge, Facts, merchantLink, metadataOf, processorSaid, Table, Time, time, word } from '../shell/table.js';
import { html, Section } from '../shell/view.js';
import { formatAmount } from '../words/money.js';
import { textOf } from '../words/words.js';
import {
  cancelDialog,
  captureDialog,
  extendDialog,
  incrementDialog,
  refundable,
  refundDialog,
  releaseDialog,
} from './dialogs.js';
import { eventsOf, firstAmount, renewalDue } from './events.js';

/** One hold, from the request to the last delivery attempt, and what can be done with it. */
export const HoldView = recordView({
  title: 'Hold',
  id: 'request ID',
  // Something about a hold may change at any moment; while something is on its way it soon will.
  everyMs: 3_000,
  read: readStory,
  Body: ({ of: hold, ask }) => html`
    <${Summary} hold=${hold} ask=${ask} />
    <${Section} title="Timeline"><${Timeline} hold=${hold} ask=${ask} /><//>
    ${hold.authorizations && html`<${Authorizations} of=${hold.authorizations} />`}
    <${Section} title="Details">
      <${Facts} of=${hold} facts=${[...FACTS, ...metadataOf(hold)]} />
    <//>
  `,
});

/** Deliveries of which the attempts are shown. */
const TOLD = 20;

/** The hold, its newest deliveries with their attempts. `known` keeps those attempts that cannot have changed since. */
async function readStory(id, known) {
  const hold = await get(pathOf`/holds/${id}`);
  const told = hold.deliveries.slice(-TOLD).map(async (delivery) => {
    const { deliveryId, attemptCount, state } = delivery;
    const key = [deliveryId, attemptCount, state].join(' ');
    if (!known.has(key)) known.set(key, (await get(pathOf`/deliveries/${deliveryId}`)).attempts);
    return { ...delivery, attempts: known.get(key) };
  });
  return { ...hold, deliveries: [...hold.deliveries.slice(0, -TOLD), ...(await Promise.all(told))] };
}

function Summary({ hold, ask }) {
  const { amount, currency, status, frozen, frozenBecause, expiresAt, contradictions } = hold;
  const button = ([text, dialogOf, tone]) =>
    html`<button type="button" class=${tone} onClick=${() => ask(dialogOf(hold))}>${text}…</button>`;
  return html`<section class="card" aria-label="Summary">
    <p class="row">
      <strong class="amount">${formatAmount(amount, currency)}</strong>
      <${Badge} word=${status} /> ${frozen && html`<${Badge} word="FROZEN" /> <span>${FROZEN[frozenBecause]}</span>`}
      ${isOpen(hold) && expiresAt && html`<span class="quiet"><${NextEnd} of=${hold} /></span>`}
    </p>
    <${AmountBar} hold=${hold} />
    <${Contradictions} of=${openOf(contradictions)} />
    <div class="buttons">${actionsOf(hold).map(button)}</div>
  </section>`;
}

/** When an open hold ends, or before when it renews itself. */
function NextEnd({ of: hold }) {
  const due = renewalDue(hold);
  if (!due) return html`ends <${Time} at=${hold.expiresAt} />`;
  return html`renews itself before <${Time} at=${due} />, until <${Time} at=${hold.keepUntil} />`;
}

/** Why a hold is frozen. */
const FROZEN = {
  UNKNOWN_CHARGE: 'Something of it may have been charged that is not shown here',
  RESULT_CONTRADICTED: 'The processor said another result than was told',
  AMOUNT_DIFFERS: 'The processor said another amount',
};

function actionsOf(hold) {
  if (hold.frozen) return [['Unfreeze', unfreezeDialog, 'danger']];
  if (hold.phase === 'AWAITING_CHECKOUT') return [['Cancel checkout', cancelDialog]];
  if (hold.phase === 'AWAITING_CUSTOMER') return [['Cancel authentication', cancelDialog]];
  if (hold.phase !== 'AUTHORIZED' || !isOpen(hold)) return [];
  return [
    ['Capture', captureDialog, 'main'],
    ['Increment', incrementDialog],
    ['Extend', extendDialog],
    ['Release', releaseDialog],
  ];
}

function isOpen({ status, amountRemaining }) {
  return ['IN_PROGRESS', 'PARTIALLY_CAPTURED'].includes(status) && amountRemaining > 0;
}

/** What happened to a hold, in order: requests, results, and each notification with its delivery attempts. */
function Timeline({ hold, ask }) {
  const refundButton = (capture) => html`<button type="button" onClick=${() => ask(refundDialog(hold, capture))}>
    Refund…<span class="hidden"> the capture of ${formatAmount(capture.amount, capture.currency)}</span>
  </button>`;
  const { contradictions } = hold;
  const correct = (operation) => ask(correctDialog({ ...operation, contradictions }));
  const correctButton = (operation) => html`<button type="button" onClick=${() => correct(operation)}>
    Correct…<span class="hidden"> ${operation.requestId}</span>
  </button>`;
  return html`<ol class="timeline">
    ${eventsOf(hold).map(
      ({ at, title, word, detail, delivery, capture, operation }) => html`<li class=${delivery ? 'delivery' : ''}>
        <p class="row">
          <${Time} at=${at} />
          <strong>
            ${delivery ? html`<a href=${linkTo(['deliveries', delivery.deliveryId])}>${title}</a>` : title}
          </strong>
          ${word && html`<${Badge} word=${word} />`}
          ${capture && !hold.frozen && refundable(capture) > 0 && refundButton(capture)}
          ${hold.frozen && operation && isCorrectable(operation) && correctButton(operation)}
        </p>
        ${detail && html`<p class="quiet">${detail}</p>`}
        ${delivery?.attempts && html`<${Attempts} attempts=${delivery.attempts} />`}
      </li>`,
    )}
  </ol>`;
}

/** What the card's issuer has reserved for a hold that renews itself, one after the other. */
function Authorizations({ of: authorizations }) {
  return html`<${Section} title="Authorizations">
    <${Table} caption="Authorizations, oldest first" columns=${AUTHORIZATION} rows=${authorizations} keyOf="placedAt" />
  <//>`;
}

const AUTHORIZATION = [
  ["Processor's reference", 'reference'],
  ['Placed', time('placedAt')],
  ['Guaranteed until', time('guaranteedUntil')],
  ['Given back, or closed', time('endedAt')],
];

const REASONS = {
  FINAL: 'The last capture closed the hold',
  RELEASED: 'The merchant or an operator released it',
  EXPIRED: 'Its period ended',
};

/** What is known of a hold besides its money. */
const FACTS = [
  ['Phase', ({ phase }) => textOf(phase)],
  ['Merchant', merchantLink],
  ["Merchant's reference", 'merchantReference'],
  ['Description', 'description'],
  ['Customer', ({ customerPresent }) => (customerPresent ? 'Present' : 'Absent: the merchant initiated it')],
  ['Waits for the customer until', ({ nextAction }) => nextAction && html`<${Time} at=${nextAction.expiresAt} />`],
  ["Merchant's reason", ({ merchantInitiated }) => merchantInitiated && textOf(merchantInitiated.reason)],
  ['Capture expected', time('expectedCaptureAt')],
  ['Renews', ({ renews }) => renews && html`<a href=${linkTo(['holds', renews])}><code>${renews}</code></a>`],
  ['Captured by itself', time('captureAt')],
  ['Ends early', time('releaseAt')],
  ['Renews itself until', time('keepUntil')],
  ['Terminal', 'terminalId'],
  ['User', 'userId'],
  ['Card', ({ paymentMethodData: card }) => card && nameOfCard(card)],
  ['3-D Secure', ({ paymentMethodData: card }) => card?.threeDSecure],
  ["Network's transaction", 'networkTransactionId'],
  ["Network's decline code", ({ paymentMethodData: card }) => card?.declineCode],
  ["Processor's reference", 'reference'],
  ['Processor said', processorSaid],
  ['Why released', word('releaseReason', REASONS)],
  ['Asked for', time('createdAt')],
  ['Placed', time('placedAt')],
  ['Guaranteed until', time('guaranteedUntil')],
  ['Ends', time('expiresAt')],
  ['Closed', time('closedAt')],
];

function nameOfCard({ brand, funding, last4 }) {
  return [brand, funding, last4 && `ending in ${last4}`].filter(Boolean).join(' ');
}

const PARTS = [
  ['amountCaptured', 'Captured', 'good'],
  ['amountInFlight', 'In flight', 'wait'],
  ['amountRemaining', 'Remaining', 'rest'],
  ['amountReleased', 'Released', 'calm'],
];

/** How a hold's amount is divided: amount = captured + in flight + remaining + released, once it is placed. */
function AmountBar({ hold }) {
  const { amount, currency, amountReversed, amountRefunded } = hold;
  const hint = (part, what) => part > 0 && html`<p class="hint">${formatAmount(part, currency)} ${what}.</p>`;
  let end = 0;
  const bar = ([field, , tone]) => {
    const width = hold[field] ?? 0;
    end += width;
    return html`<rect class=${tone} x=${end - width} width=${width} height="4" />`;
  };
  return html`
    <svg class="division" viewBox="0 0 ${amount} 4" preserveAspectRatio="none" aria-hidden="true">
      ${PARTS.map(bar)}
    </svg>
    <dl class="facts">
      ${PARTS.map(
        ([field, name, tone]) => html`<div>
          <dt><span class="key ${tone}"></span> ${name}</dt>
          <dd><strong>${formatAmount(hold[field] ?? 0, currency)}</strong></dd>
        </div>`,
      )}
    </dl>
    ${hint(amount - firstAmount(hold), 'was added by increments')}
    ${hint(amountRefunded, 'of what was captured was refunded')}
    ${hint(amountReversed, 'of what was captured was reversed')}
  `;
}
