import { useRef, useState } from 'preact/hooks';
import { readDelivery, readHold } from '../api.js';
import { Attempts } from '../deliveries/attempts.js';
import { CopyButton } from '../shell/copy-button.js';
import { html } from '../shell/html.js';
import { Loaded, useLoad } from '../shell/load.js';
import { notify } from '../shell/notice.js';
import { linkTo } from '../shell/route.js';
import { View } from '../shell/view.js';
import { formatAmount } from '../words/money.js';
import { Time } from '../words/time.js';
import { Badge } from '../words/words.js';
import { CaptureDialog, ExtendDialog, IncrementDialog, RefundDialog, ReleaseDialog, refundable } from './dialogs.js';
import { eventsOf } from './events.js';
import { AmountBar, HoldFacts } from './hold-facts.js';

/** Something about a hold may change at any moment; while something is on its way it soon will. */
const REFRESH_MS = 3_000;
/** Deliveries of which the attempts are shown. */
const TOLD = 20;

/** One hold, from the request to the last delivery attempt, and what can be done with it. */
export function HoldView({ id }) {
  const attempts = useRef(new Map());
  const hold = useLoad(() => readStory(id, attempts.current), id, REFRESH_MS);
  /** The dialog that is open, and what it is about besides the hold. */
  const [open, setDialog] = useState();
  const close = () => setDialog(undefined);
  const done = (text) => {
    close();
    notify(text);
    hold.reload();
  };
  return html`<${View} title="Hold">
    <p class="lead"><code>${id}</code> <${CopyButton} text=${id} what="the request ID" isSmall /></p>
    <${Loaded} of=${hold} what="the hold">
      ${(value) => html`
        <${Summary} hold=${value} ask=${(dialog) => setDialog({ dialog })} />
        <section aria-labelledby="timeline">
          <h2 id="timeline">Timeline</h2>
          <${Timeline} hold=${value} onRefund=${(of) => setDialog({ dialog: RefundDialog, of })} />
        </section>
        <section aria-labelledby="facts">
          <h2 id="facts">Details</h2>
          <${HoldFacts} hold=${value} />
        </section>
        ${open && html`<${open.dialog} hold=${value} of=${open.of} onDone=${done} onClose=${close} />`}
      `}
    <//>
  <//>`;
}

function Summary({ hold, ask }) {
  const { amount, currency, status, frozen, expiresAt } = hold;
  return html`<section class="card" aria-label="Summary">
    <p class="headline">
      <strong class="amount">${formatAmount(amount, currency)}</strong>
      <${Badge} word=${status} /> ${frozen && html`<${Badge} word="FROZEN" />`}
      ${isOpen(hold) && expiresAt && html`<span class="quiet">ends <${Time} at=${expiresAt} /></span>`}
    </p>
    <${AmountBar} hold=${hold} />
    ${
      isReleasable(hold) &&
      html`<div class="buttons">
        ${
          isCapturable(hold) &&
          html`<button type="button" class="main" onClick=${() => ask(CaptureDialog)}>Capture…</button>
            <button type="button" onClick=${() => ask(IncrementDialog)}>Increment…</button>
            <button type="button" onClick=${() => ask(ExtendDialog)}>Extend…</button>`
        }
        <button type="button" onClick=${() => ask(ReleaseDialog)}>Release…</button>
      </div>`
    }
  </section>`;
}

/** What happened to a hold, in order: requests, results, and each notification with its delivery attempts. */
function Timeline({ hold, onRefund }) {
  return html`<ol class="timeline">
    ${eventsOf(hold).map(
      ({ at, title, word, detail, delivery, capture }) => html`<li class=${delivery ? 'delivery' : ''}>
        <p class="headline">
          <${Time} at=${at} />
          <span class="title">${
            delivery ? html`<a href=${linkTo(['deliveries', delivery.deliveryId])}>${title}</a>` : title
          }</span>
          ${word && html`<${Badge} word=${word} />`}
          ${
            capture &&
            !hold.frozen &&
            refundable(capture) > 0 &&
            html`<button type="button" onClick=${() => onRefund(capture)}>
              Refund…<span class="hidden"> the capture of ${formatAmount(capture.amount, capture.currency)}</span>
            </button>`
          }
        </p>
        ${detail && html`<p class="quiet">${detail}</p>`}
        ${delivery?.attempts && html`<${Attempts} attempts=${delivery.attempts} />`}
      </li>`,
    )}
  </ol>`;
}

/** The hold, its newest deliveries with their attempts. `known` keeps those attempts that cannot have changed since. */
async function readStory(id, known) {
  const hold = await readHold(id);
  const told = hold.deliveries.slice(-TOLD).map(async (delivery) => {
    const { deliveryId, attemptCount, state } = delivery;
    const key = [deliveryId, attemptCount, state].join(' ');
    if (!known.has(key)) known.set(key, (await readDelivery(deliveryId)).attempts);
    return { ...delivery, attempts: known.get(key) };
  });
  return { ...hold, deliveries: [...hold.deliveries.slice(0, -TOLD), ...(await Promise.all(told))] };
}

function isOpen({ status, amountRemaining }) {
  return ['IN_PROGRESS', 'PARTIALLY_CAPTURED'].includes(status) && amountRemaining > 0;
}

function isCapturable(hold) {
  return isReleasable(hold) && hold.phase === 'AUTHORIZED';
}

function isReleasable(hold) {
  return isOpen(hold) && !hold.frozen && ['AUTHORIZED', 'AWAITING_CHECKOUT'].includes(hold.phase);
}
