import type { EndpointState } from '../../storage/endpoint/endpoint.ts';
import type { Method } from '../core.ts';
import { keptEndpointKind } from '../present.ts';
import { changeEndpoint } from './change-endpoint.ts';

/** Pauses an endpoint: nothing is sent, and its deliveries keep their bodies and their order. */
export const pauseEndpoint: Method<'pauseEndpoint'> = async (core, { merchantId, endpointKind }) => {
  const key = { merchantId, kind: keptEndpointKind(endpointKind) };
  const pause = (state: EndpointState): EndpointState => ({ ...state, pause: 'OPERATOR', pausedUntil: null });
  return { endpoint: await changeEndpoint(core, key, 'endpoint.pause', pause) };
};
