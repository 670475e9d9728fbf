import { timestampDate } from '@bufbuild/protobuf/wkt';
import { EndpointKind } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { recoverRange } from '../../storage/delivery/replay-deliveries.ts';
import { endpointName } from '../../storage/endpoint/endpoint.ts';
import { takeQuota } from '../../storage/merchant/quota.ts';
import type { Method } from '../core.ts';
import { keptEndpointKind } from '../present.ts';
import { invalidField, tooMany } from '../refuse.ts';
import { isMerchant } from './present-delivery.ts';

/** Makes due now what was not delivered in a time, also what waits for a later attempt. Throws RATE_LIMITED for a merchant that does it too often. */
export const recoverDeliveries: Method<'recoverDeliveries'> = async (core, request, context) => {
  const { merchantId, endpointKind, since, until } = request;
  if (isMerchant(context) && merchantId === '') throw invalidField('merchant_id', 'must be named');
  if (!since) throw invalidField('since', 'is needed');
  const now = core.clock();
  const range = {
    merchantId: merchantId || null,
    endpointKind: endpointKind === EndpointKind.UNSPECIFIED ? null : keptEndpointKind(endpointKind),
    since: timestampDate(since),
    until: until ? timestampDate(until) : null,
  };
  const action = { at: now, action: 'delivery.recover', target: merchantId || 'all merchants', detail: { ...range } };
  const recovered = await audited(core.database, action, async (query) => {
    const may = !isMerchant(context) || (await takeQuota(query, merchantId, 'delivery.recover', now));
    if (!may) throw tooMany(now);
    return recoverRange(query, range, now);
  });
  core.announce(recovered.map(endpointName));
  return { count: recovered.length };
};
