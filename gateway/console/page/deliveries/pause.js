import { listEndpoints } from '../api.js';
import { html } from '../shell/html.js';
import { momentOf } from '../words/time.js';
import { ENDPOINTS, PAUSES } from '../words/words.js';

/** The pauses of a merchant's endpoints: `{ merchantId, endpointKind, pause, pausedUntil? }`; empty when nothing is paused. */
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
