import { get, pathOf, post } from '../api.js';
import { dateFields, filterOf } from '../shell/filters.js';
import { Field } from '../shell/form.js';
import { html } from '../shell/view.js';
import { momentOf } from '../words/time.js';
import { ENDPOINTS, endpointOf, PAUSES } from '../words/words.js';

/** The pauses of a merchant's endpoints: `{ merchantId, endpointKind, endpointId, pause, pausedUntil? }`. */
export async function readPauses(merchantId) {
  const { items } = await get('/endpoints', { merchantId });
  return items.filter(({ pause }) => pause);
}

export function nameOfEndpoint(endpoint) {
  return `the ${endpointOf(endpoint)} endpoint of ${endpoint.merchantId}`;
}

/** Why nothing is sent to an endpoint now, as a sentence. */
export function waitingFor(endpoint) {
  const { pause, pausedUntil } = endpoint;
  const until = pause === 'BREAKER' && pausedUntil ? `until ${momentOf(pausedUntil)}` : 'until it is resumed';
  return `Waiting: ${nameOfEndpoint(endpoint)} is paused ${until} (${PAUSES[pause] ?? pause}).`;
}

/** The message once a delivery was requested: it is sent, or it waits because its endpoint is paused. */
export async function outcomeOf(delivery, sent) {
  const paused = pauseOf(delivery, await readPauses(delivery.merchantId));
  return paused ? waitingFor(paused) : sent;
}

/** The pause of a delivery's endpoint among those of its merchant. */
export function pauseOf(delivery, pauses) {
  return pauses.find((endpoint) => endpointOf(endpoint) === endpointOf(delivery));
}

/** Pauses an endpoint, or one that the reader names. */
export const pauseDialog = ({ merchantId, ...endpoint }) => ({
  title: 'Pause endpoint',
  action: 'Pause endpoint',
  tone: 'danger',
  body: html`
    <p>Nothing is sent to it until it is resumed. Nothing is lost.</p>
    <${Field} name="merchantId" label="Merchant" required defaultValue=${merchantId} autofocus />
    <${Field} name="endpoint" label="Endpoint" required defaultValue=${endpointOf(endpoint) || 'webhook'} />
  `,
  run: async (form) => {
    const [merchantId, name] = [form.get('merchantId').trim(), form.get('endpoint').trim()];
    await setEndpoint(merchantId, name, 'pause');
    return `Nothing is sent to the ${name} endpoint of ${merchantId} until it is resumed.`;
  },
});

export const resumeDialog = (endpoint) => ({
  title: `Resume ${nameOfEndpoint(endpoint)}?`,
  action: 'Resume endpoint',
  body: 'Deliveries that waited are sent now.',
  run: () => setEndpoint(endpoint.merchantId, endpointOf(endpoint), 'resume'),
  done: () => `Deliveries to ${nameOfEndpoint(endpoint)} go on.`,
});

/** `name` is webhook, internal, or the id of a further endpoint. */
function setEndpoint(merchantId, name, act) {
  return post(pathOf`/endpoints/${merchantId}/${name}/${act}`);
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
