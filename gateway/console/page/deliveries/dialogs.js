import { get, pathOf, post } from '../api.js';
import { dateFields, filterOf } from '../shell/filters.js';
import { Field } from '../shell/form.js';
import { html } from '../shell/html.js';
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

/** What is told once a delivery was asked for: that it is sent, or that it waits because its endpoint is paused. */
export async function outcomeOf(merchantId, endpointKind, sent) {
  const paused = (await readPauses(merchantId)).find((endpoint) => endpoint.endpointKind === endpointKind);
  return paused ? waitingFor(paused) : sent;
}

/** Pauses an endpoint, or one that the reader names. */
export function pauseDialog({ merchantId = '', endpointKind }) {
  return {
    title: 'Pause endpoint',
    action: 'Pause endpoint',
    tone: 'danger',
    body: html`
      <p>Nothing is sent to it until it is resumed. Nothing is lost.</p>
      <${Field} name="merchantId" label="Merchant" required defaultValue=${merchantId} autofocus />
      <${Field} name="endpointKind" label="Endpoint" value=${endpointKind} options=${Object.entries(ENDPOINTS)} />
    `,
    run: async (form) => {
      const endpoint = { merchantId: form.get('merchantId').trim(), endpointKind: form.get('endpointKind') };
      await setEndpoint(endpoint, 'pause');
      return `Nothing is sent to ${nameOfEndpoint(endpoint)} until it is resumed.`;
    },
  };
}

export function resumeDialog(endpoint) {
  const name = nameOfEndpoint(endpoint);
  return {
    title: `Resume ${name}?`,
    action: 'Resume endpoint',
    body: html`<p>Deliveries that waited are sent now.</p>`,
    run: async () => {
      await setEndpoint(endpoint, 'resume');
      return `Deliveries to ${name} go on.`;
    },
  };
}

function setEndpoint({ merchantId, endpointKind }, act) {
  return post(pathOf`/endpoints/${merchantId}/${endpointKind.toLowerCase()}/${act}`);
}

/** Sends the deliveries of a merchant that have ended again, oldest first and spread over time. */
export function replayManyDialog(query) {
  const times = dateFields('created', 'Created');
  return {
    title: 'Replay many deliveries',
    action: 'Replay',
    body: html`
      <p>Each keeps its webhook-id, so a receiver that heeds it does nothing twice.</p>
      <${Field} name="merchantId" label="Merchant" required defaultValue=${query.get('merchantId')} autofocus />
      <${Field} name="endpointKind" label="Endpoint" value=${query.get('endpointKind')}
        options=${[['', 'Both'], ...Object.entries(ENDPOINTS)]} />
      <${Field} name="state" label="Which"
        options=${[['DEAD', 'Dead: every attempt failed'], ['DELIVERED', 'Delivered before']]} />
      ${times.map(({ read, ...field }) => html`<${Field} ...${field} defaultValue=${query.get(field.name)} />`)}
    `,
    run: async (form) => {
      const filter = filterOf(times, form);
      const merchantId = filter.merchantId.trim();
      const { replayedCount, more } = await post('/deliveries/replay', { ...filter, merchantId });
      const pauses = (await readPauses(merchantId)).filter(
        ({ endpointKind }) => !filter.endpointKind || endpointKind === filter.endpointKind,
      );
      const noun = replayedCount === 1 ? 'delivery is' : 'deliveries are';
      const sent = `${replayedCount} ${noun} sent again${more ? '; more match' : ''}.`;
      return [sent, ...pauses.map(waitingFor)].join(' ');
    },
  };
}
