import { audited } from '../../storage/audit-log/audit-log.ts';
import {
  type EndpointKey,
  type EndpointState,
  endpointName,
  lockEndpoint,
  writeEndpoint,
} from '../../storage/endpoint/endpoint.ts';
import { findMerchant } from '../../storage/merchant/merchant.ts';
import type { Core } from '../core.ts';
import { refusalOf } from '../refuse.ts';
import { presentEndpoint } from './present-endpoint.ts';

/** Changes the state of an endpoint and audits it. Throws OPERATION_NOT_FOUND when there is no such merchant. */
export async function changeEndpoint(
  core: Core,
  key: EndpointKey,
  action: string,
  next: (state: EndpointState) => EndpointState,
) {
  if (!(await findMerchant(core.database, key.merchantId))) throw refusalOf('OPERATION_NOT_FOUND');
  const now = core.clock();
  const detail: { before?: object; after?: object } = {};
  const audit = { at: now, action, target: endpointName(key), detail };
  const state = await audited(core.database, audit, async (query) => {
    const current = await lockEndpoint(query, key, now);
    const changed = next(current);
    Object.assign(detail, { before: { pause: current.pause }, after: { pause: changed.pause } });
    await writeEndpoint(query, key, changed, now);
    return changed;
  });
  return presentEndpoint({ ...key, ...state, changedAt: now });
}
