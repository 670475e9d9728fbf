import { isDeepStrictEqual } from 'node:util';
import { EndpointSchema } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { hurry } from '../../storage/delivery/make-due-again.ts';
import {
  type EndpointKey,
  type EndpointRow,
  type EndpointState,
  endpointName,
  endpointOf,
  FRESH,
  listTroubledEndpoints,
  lockEndpoints,
  writeEndpoints,
} from '../../storage/endpoint/endpoint-row.ts';
import { findMerchant } from '../../storage/merchant/merchant-row.ts';
import type { Core, Method } from '../core.ts';
import { filtersOf, readPage } from '../pages.ts';
import { keptEndpointKind, present } from '../present.ts';
import { noSuch } from '../refuse.ts';

/** Lists endpoints that have failed or are paused. */
export const listEndpoints: Method<'listEndpoints'> = (core, request, context) => {
  const filters = filtersOf<{ readonly merchantId?: string }>(context, request);
  const byName = { isKey: (text: string) => endpointOf(text) !== undefined, keyOf: endpointName };
  return readPage('endpoints', request, filters, byName, {
    read: (_, after = '', limit) => listTroubledEndpoints(core.reads, filters.merchantId, endpointOf(after), limit),
    present: presentEndpoint,
  });
};

/** Pauses an endpoint: nothing is sent, and its deliveries keep their bodies and their order. */
export const pauseEndpoint: Method<'pauseEndpoint'> = async (core, { merchantId, endpointKind }) => {
  const key = { merchantId, kind: keptEndpointKind(endpointKind) };
  const pause = (state: EndpointState): EndpointState => ({ ...state, pause: 'OPERATOR', pausedUntil: null });
  return { endpoint: await changeEndpoint(core, key, 'endpoint.pause', pause) };
};

/** Ends a pause: waiting deliveries are sent now. */
export const resumeEndpoint: Method<'resumeEndpoint'> = async (core, { merchantId, endpointKind }) => {
  const key = { merchantId, kind: keptEndpointKind(endpointKind) };
  const endpoint = await changeEndpoint(core, key, 'endpoint.resume', () => FRESH);
  core.announce([endpointName(key)]);
  return { endpoint };
};

/** Changes the state of an endpoint and audits it, unless it is so already. Throws OPERATION_NOT_FOUND. */
async function changeEndpoint(
  core: Core,
  key: EndpointKey,
  action: string,
  next: (state: EndpointState) => EndpointState,
) {
  if (!(await findMerchant(core.database, key.merchantId))) throw noSuch('merchant');
  const now = core.clock();
  const detail: { before?: object; after?: object } = {};
  const audit = { at: now, action, target: endpointName(key), detail };
  let state = FRESH;
  await audited(core.database, audit, async (query) => {
    const [locked] = await lockEndpoints(query, [key], now);
    const current = locked?.state ?? FRESH;
    state = next(current);
    if (isDeepStrictEqual(current, state)) return false;
    Object.assign(detail, { before: { pause: current.pause }, after: { pause: state.pause } });
    await writeEndpoints(query, [{ ...key, ...state }], now);
    return true;
  });
  return presentEndpoint({ ...key, ...state, changedAt: now });
}

/** Makes due at once the deliveries to endpoints that have moved: they waited because of the old addresses. */
export async function hurryTo(core: Core, merchantId: string, moved: readonly EndpointKey['kind'][]): Promise<void> {
  for (const kind of moved) {
    await hurry(core.database.query, { merchantId, kind }, core.clock());
    core.announce([endpointName({ merchantId, kind })]);
  }
}

/** An endpoint as operators see it. */
function presentEndpoint(row: Readonly<EndpointRow>) {
  const failureCount = row.failureCount + row.refusedCount;
  return present(EndpointSchema, { ...row, failureCount }, { endpointKind: row.kind });
}
