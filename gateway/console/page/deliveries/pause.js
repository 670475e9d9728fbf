import { listEndpoints, setEndpoint } from '../api.js';
import { Confirm } from '../shell/dialog.js';
import { Field, Select } from '../shell/field.js';
import { html } from '../shell/html.js';
import { momentOf } from '../words/time.js';
import { ENDPOINTS, PAUSES } from '../words/words.js';

/**
 * The pauses of a merchant's endpoints: `{ merchantId, endpointKind, pause, pausedUntil? }`; empty when nothing is
 * paused.
 */
export async function readPauses(merchantId) {
  const { items } = await listEndpoints({ merchantId });
  return items.filter(({ pause }) => pause);
}

/** What is told once a delivery was asked for: that it is sent, or that it waits because its endpoint is paused. */
export async function outcomeOf(merchantId, endpointKind, sent) {
  const paused = (await readPauses(merchantId)).find((endpoint) => endpoint.endpointKind === endpointKind);
  return paused ? waitingFor(paused) : sent;
}

/** Why nothing is sent to an endpoint now, as a sentence. */
export function waitingFor({ merchantId, endpointKind, pause, pausedUntil }) {
  const endpoint = `the ${ENDPOINTS[endpointKind]} endpoint of ${merchantId}`;
  const until = pause === 'BREAKER' && pausedUntil ? `until ${momentOf(pausedUntil)}` : 'until it is resumed';
  return `Waiting: ${endpoint} is paused ${until} (${PAUSES[pause] ?? pause}).`;
}

/** Says that an endpoint is paused, and offers to resume it. */
export function PausedHint({ endpoint, onResume }) {
  return html`<div class="hint" role="note">
    <p><strong>${waitingFor(endpoint)}</strong> Nothing is sent to it meanwhile, and nothing is lost.</p>
    <div class="buttons"><button type="button" onClick=${onResume}>Resume endpoint…</button></div>
  </div>`;
}

/** Asks which endpoint to pause, unless `asked` names it, and pauses it. `onDone` hears what was done. */
export function PauseDialog({ asked, onDone, onClose }) {
  const run = async (form) => {
    const { merchantId, endpointKind } = Object.fromEntries(form);
    await setEndpoint(merchantId.trim(), endpointKind, 'pause');
    return `Nothing is sent to the ${ENDPOINTS[endpointKind]} endpoint of ${merchantId.trim()} until it is resumed.`;
  };
  return html`<${Confirm} title="Pause endpoint" action="Pause endpoint" isDangerous run=${run} onDone=${onDone}
    onClose=${onClose}>
    <p>Nothing is sent to it until it is resumed. Nothing is lost.</p>
    <${Field} name="merchantId" label="Merchant" required defaultValue=${asked.merchantId ?? ''} autofocus />
    <${Select} name="endpointKind" label="Endpoint" value=${asked.endpointKind} options=${Object.entries(ENDPOINTS)} />
  <//>`;
}

export function ResumeDialog({ asked: { merchantId, endpointKind }, onDone, onClose }) {
  const name = `the ${ENDPOINTS[endpointKind]} endpoint of ${merchantId}`;
  const run = async () => {
    await setEndpoint(merchantId, endpointKind, 'resume');
    return `Deliveries to ${name} go on.`;
  };
  return html`<${Confirm} title="Resume ${name}?" action="Resume endpoint" run=${run} onDone=${onDone}
    onClose=${onClose}>
    <p>Deliveries that waited are sent now.</p>
  <//>`;
}
