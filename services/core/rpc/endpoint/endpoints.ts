import { isDeepStrictEqual } from 'node:util';
import {
  EndpointSchema,
  type PauseEndpointRequest,
  type ResumeEndpointRequest,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { type EndpointId, isOfContract } from '../../storage/delivery/delivery-row.ts';
import { hurry } from '../../storage/delivery/make-due-again.ts';
import {
  type EndpointKey,
  type EndpointState,
  endpointName,
  FRESH,
  isEndpoint,
  lockEndpoints,
  writeEndpoints,
} from '../../storage/endpoint/endpoint-row.ts';
import { tellOwners } from '../../storage/endpoint/tell-owners.ts';
import { listTroubledEndpoints, nameOfPlace, placeOf } from '../../storage/endpoint/troubled-endpoints.ts';
import { findMerchant } from '../../storage/merchant/merchant-row.ts';
import type { Core, Method } from '../core.ts';
import { isMerchant } from '../delivery/deliveries.ts';
import { filtersOf, readPage } from '../pages.ts';
import { keptEndpointId, present, presentedEndpoint, purposeOfKind } from '../present.ts';
import { noSuch } from '../refuse.ts';

/** Lists endpoints that have failed or are paused, the worst first. */
export const listEndpoints: Method<'listEndpoints'> = (core, request, context) => {
  const filters = filtersOf<{ readonly merchantId?: string }>(context, request);
  const { query } = core.reads;
  const byPlace = { isKey: (text: string) => placeOf(text) !== undefined, keyOf: nameOfPlace };
  return readPage('endpoints', request, filters, byPlace, {
    read: (_, after = '', limit) => listTroubledEndpoints(query, filters.merchantId, placeOf(after), limit),
    // An error in detail shows names and addresses in the network of the service.
    present: (row) => presentEndpoint(isMerchant(context) ? { ...row, lastError: null } : row),
  });
};

/**
 * Pauses an endpoint: nothing is sent, and its deliveries keep their bodies and their order. Its owner is told, unless
 * it was since the endpoint worked last.
 */
export const pauseEndpoint: Method<'pauseEndpoint'> = async (core, request) => {
  const key = keyOf(request);
  const pause = (state: EndpointState): EndpointState => ({ ...state, pause: 'OPERATOR', pausedUntil: null });
  return { endpoint: await changeEndpoint(core, key, 'endpoint.pause', pause) };
};

/** Ends a pause: waiting deliveries are sent now. What its owner was told counts until the endpoint works. */
export const resumeEndpoint: Method<'resumeEndpoint'> = async (core, request) => {
  const key = keyOf(request);
  const resume = ({ told }: EndpointState): EndpointState => ({ ...FRESH, told });
  const endpoint = await changeEndpoint(core, key, 'endpoint.resume', resume);
  core.announce([endpointName(key)]);
  return { endpoint };
};

function keyOf(request: PauseEndpointRequest | ResumeEndpointRequest): EndpointKey {
  const { merchantId } = request;
  if (request.endpointId === '') return { merchantId, endpointId: purposeOfKind(request.endpointKind) };
  const endpointId = keptEndpointId(request.endpointId);
  if (endpointId === undefined) throw noSuch('endpoint');
  return { merchantId, endpointId };
}

/** Changes the state of an endpoint and audits it, unless it is so already. Throws OPERATION_NOT_FOUND. */
async function changeEndpoint(
  core: Core,
  key: EndpointKey,
  action: string,
  next: (state: EndpointState) => EndpointState,
) {
  if (!(await findMerchant(core.database, key.merchantId))) throw noSuch('merchant');
  if (!isOfContract(key.endpointId) && !(await isEndpoint(core.database.query, key))) throw noSuch('endpoint');
  const now = core.clock();
  const detail: { before?: object; after?: object } = {};
  const audit = { at: now, action, target: endpointName(key), detail };
  let state = FRESH;
  let told: readonly EndpointKey[] = [];
  await audited(core.database, audit, async (query) => {
    const [locked] = await lockEndpoints(query, [key], now);
    const current = locked?.state ?? FRESH;
    state = next(current);
    if (isDeepStrictEqual(current, state)) return false;
    Object.assign(detail, { before: { pause: current.pause }, after: { pause: state.pause } });
    const { pause, failingSince } = state;
    if (pause && !state.told.includes('endpoint.disabled')) {
      state = { ...state, told: [...state.told, 'endpoint.disabled'] };
      told = await tellOwners(query, [{ ...key, type: 'endpoint.disabled', subject: { pause, failingSince } }], now);
    }
    await writeEndpoints(query, [{ ...key, ...state }], now);
    return true;
  });
  core.announce(told.map(endpointName));
  return presentEndpoint({ ...key, ...state, changedAt: now });
}

/** Makes due at once the deliveries to endpoints that have moved: they waited because of the old addresses. */
export async function hurryTo(core: Core, merchantId: string, moved: readonly EndpointId[]): Promise<void> {
  for (const endpointId of moved) {
    await hurry(core.database.query, { merchantId, endpointId }, core.clock());
    core.announce([endpointName({ merchantId, endpointId })]);
  }
}

/** An endpoint as operators see it. */
function presentEndpoint(row: EndpointKey & EndpointState & { readonly changedAt: Date }) {
  const failureCount = row.failureCount + row.refusedCount;
  return present(EndpointSchema, row, { ...presentedEndpoint(row.endpointId), failureCount });
}
