import { type EndpointKey, endpointName, FRESH, listTroubledEndpoints } from '../../storage/endpoint/endpoint.ts';
import type { Core } from '../core.ts';
import { changeEndpoint } from './change-endpoint.ts';

/** Ends a pause that the endpoint itself has caused, by failing or by a 410. One by an operator stays. */
export async function endOwnPause(core: Core, key: EndpointKey): Promise<void> {
  const troubled = await listTroubledEndpoints(core.database, key.merchantId, undefined, 2);
  const state = troubled.find(({ kind }) => kind === key.kind);
  if (state?.pause !== 'GONE' && state?.pause !== 'BREAKER') return;
  await changeEndpoint(core, key, 'endpoint.resume', (now) => (now.pause === 'OPERATOR' ? now : FRESH));
  await core.queue.moveAll(endpointName(key), 0);
}
