import { endpointName, FRESH } from '../../storage/endpoint/endpoint.ts';
import type { Method } from '../core.ts';
import { keptEndpointKind } from '../present.ts';
import { changeEndpoint } from './change-endpoint.ts';

/** Ends a pause: waiting deliveries are sent now. */
export const resumeEndpoint: Method<'resumeEndpoint'> = async (core, { merchantId, endpointKind }) => {
  const key = { merchantId, kind: keptEndpointKind(endpointKind) };
  const endpoint = await changeEndpoint(core, key, 'endpoint.resume', () => FRESH);
  core.announce([endpointName(key)]);
  return { endpoint };
};
