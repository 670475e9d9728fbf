import type { MethodImpl } from '@connectrpc/connect';
import type { EndpointKind, NotificationService } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { type EndpointState, FRESH } from '../../domain/endpoint.ts';
import { audited } from '../../storage/audit-log.ts';
import { EndpointEntity, type EndpointKey, endpointName, lockEndpoint, writeEndpoint } from '../../storage/endpoint.ts';
import { MerchantEntity } from '../../storage/merchant.ts';
import { isMerchantId } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { refusalOf } from '../refuse.ts';
import { keptEndpointKind } from './kinds.ts';
import type { NotificationCore } from './notification-core.ts';
import { presentEndpoint } from './present-notification.ts';

/** Lists endpoints that have failed or are paused. */
export function listEndpoints(core: NotificationCore): MethodImpl<typeof NotificationService.method.listEndpoints> {
  return async (request) => {
    const filters = request.merchantId === '' ? {} : { merchantId: request.merchantId };
    const after = pageKey(request.pageToken, filters, isEndpointName);
    const [merchantId = '', kind = ''] = after?.split('/') ?? [];
    const beyond = { $or: [{ merchantId: { $gt: merchantId } }, { merchantId, kind: { $gt: kind as 'webhook' } }] };
    const size = pageSizeOf(request);
    const rows = await core.database.orm.em.fork().find(
      EndpointEntity,
      {
        $and: [
          filters,
          after === undefined ? {} : beyond,
          { $or: [{ failureCount: { $gt: 0 } }, { pause: { $ne: null } }] },
        ],
      },
      { orderBy: { merchantId: 'asc', kind: 'asc' }, limit: size + 1 },
    );
    const { page, nextPageToken } = cutPage(rows, size, (last) => pageToken(endpointName(last), filters));
    return { endpoints: page.map(presentEndpoint), nextPageToken };
  };
}

function isEndpointName(text: string): boolean {
  const [merchantId = '', kind = ''] = text.split('/');
  return isMerchantId(merchantId) && (kind === 'webhook' || kind === 'internal');
}

/** Pauses an endpoint: its deliveries keep their place and their body, and nothing is sent. */
export function pauseEndpoint(core: NotificationCore): MethodImpl<typeof NotificationService.method.pauseEndpoint> {
  return async (request) => {
    const pause = (state: EndpointState): EndpointState => ({ ...state, pause: 'OPERATOR', pausedUntil: null });
    return { endpoint: await change(core, keyOf(request), 'endpoint.pause', pause) };
  };
}

/** Ends a pause: what waits goes off now; what has no alarm any more gets one from the sweeper. */
export function resumeEndpoint(core: NotificationCore): MethodImpl<typeof NotificationService.method.resumeEndpoint> {
  return async (request) => {
    const key = keyOf(request);
    const endpoint = await change(core, key, 'endpoint.resume', () => FRESH);
    await core.queue.moveAll(endpointName(key), 0);
    return { endpoint };
  };
}

async function change(
  core: NotificationCore,
  key: EndpointKey,
  action: string,
  next: (state: EndpointState) => EndpointState,
) {
  const merchant = await core.database.orm.em.fork().findOne(MerchantEntity, { id: key.merchantId });
  if (!merchant) throw refusalOf('OPERATION_NOT_FOUND');
  const now = core.clock();
  const state = await audited(core.database, { at: now, action, target: endpointName(key) }, async (query) => {
    const changed = next(await lockEndpoint(query, key, now));
    await writeEndpoint(query, key, changed, now);
    return changed;
  });
  return presentEndpoint({ ...key, ...state, changedAt: now });
}

function keyOf({ merchantId, endpointKind }: { merchantId: string; endpointKind: EndpointKind }): EndpointKey {
  return { merchantId, kind: keptEndpointKind(endpointKind) };
}
