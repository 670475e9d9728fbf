import { get, pathOf, post } from '../api.js';
import { dateFields, filterOf } from '../shell/filters.js';
import { Field } from '../shell/form.js';
import { html } from '../shell/view.js';
import { momentOf } from '../words/time.js';
import { ENDPOINTS, PAUSES } from '../words/words.js';

/** The pauses of a merchant's endpoints: `{ merchantId, endpointKind, pause, pausedUntil? }`. */
export async function readPauses(merchantId) {
  const { items } = await get('/endpoints', { merchantId });
  return items.filter(({ pause }) => pause);
}

export function nameOfEndpoint({ merchantId, endpointKind }) {
  return `the ${ENDPOINTS[endpointKind]} endpoint of ${merchantId}`;
}

/** Why nothing is sent to an endpoint now, as a sentence. */
export function waitingFor(endpoint) {
  const { pause, pausedUntil } = endpoint;
  const until = pause === 'BREAKER' && pausedUntil ? `until ${momentOf(pausedUntil)}` : 'until it is resumed';
  return `Waiting: ${nameOfEndpoint(endpoint)} is paused ${until} (${PAUSES[pause] ?? pause}).`;
}

/** The message once a delivery was requested: it is sent, or it waits because its endpoint is paused. */
export async function outcomeOf(merchantId, endpointKind, sent) {
  const paused = (await readPauses(merchantId)).find((endpoint) => endpoint.endpointKind === endpointKind);
  return paused ? waitingFor(paused) : sent;
}

/** Pauses an endpoint, or one that the reader names. */
export const pauseDialog = ({ merchantId, endpointKind }) => ({
  title: 'Pause endpoint',
  action: 'Pause endpoint',
  tone: 'danger',
  body: html`
    <p>Nothing is sent to it until it is resumed. Nothing is lost.</p>
    <${Field} name="merchantId" label="Merchant" required defaultValue=${merchantId} autofocus />
    <${Field} name="endpointKind" label="Endpoint" value=${endpointKind} options=${ENDPOINTS} />
  `,
  run: async (form) => {
    const endpoint = { merchantId: form.get('merchantId').trim(), endpointKind: form.get('endpointKind') };
    await setEndpoint(endpoint, 'pause');
    return `Nothing is sent to ${nameOfEndpoint(endpoint)} until it is resumed.`;
  },
});

export const resumeDialog = (endpoint) => ({
  title: `Resume ${nameOfEndpoint(endpoint)}?`,
  action: 'Resume endpoint',
  body: 'Deliveries that waited are sent now.',
  run: () => setEndpoint(endpoint, 'resume'),
  done: () => `Deliveries to ${nameOfEndpoint(endpoint)} go on.`,
});

function setEndpoint({ merchantId, endpointKind }, act) {
  return post(pathOf`/endpoints/${merchantId}/${endpointKind.toLowerCase()}/${act}`);
}

const BOTH = { '': 'Both', ...ENDPOINTS };
const ENDED = { DEAD: 'Dead: every attempt failed', DELIVERED: 'Delivered before' };
const TIMES = dateFields('created', 'Created');

/** Sends the deliveries of a merchant that have ended again, oldest first and spread over time. */
export const replayManyDialog = (query) => ({
  title: 'Replay many deliveries',
  action: 'Replay',
  body: html`
    <p>Each keeps its webhook-id, so a receiver that heeds it does nothing twice.</p>
    <${Field} name="merchantId" label="Merchant" required defaultValue=${query.get('merchantId')} autofocus />
    <${Field} name="endpointKind" label="Endpoint" value=${query.get('endpointKind')} options=${BOTH} />
    <${Field} name="state" label="Which" options=${ENDED} />
    ${TIMES.map(({ read, ...field }) => html`<${Field} ...${field} defaultValue=${query.get(field.name)} />`)}
  `,
  run: async (form) => {
    const filter = filterOf(TIMES, form);
    const merchantId = filter.merchantId.trim();
    const { replayedCount, more } = await post('/deliveries/replay', { ...filter, merchantId });
    const isMeant = ({ endpointKind }) => !filter.endpointKind || endpointKind === filter.endpointKind;
    const pauses = (await readPauses(merchantId)).filter(isMeant);
    const noun = replayedCount === 1 ? 'delivery is' : 'deliveries are';
    const sent = `${replayedCount} ${noun} sent again${more ? '; more match' : ''}.`;
    return [sent, ...pauses.map(waitingFor)].join(' ');
  },
});
