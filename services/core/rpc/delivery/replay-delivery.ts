import { HoldfastError } from '../../domain/refusal.ts';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { MAX_ATTEMPTS, replayOne } from '../../storage/delivery/replay-deliveries.ts';
import { endpointName } from '../../storage/endpoint/endpoint.ts';
import { takeQuota } from '../../storage/merchant/quota.ts';
import type { Method } from '../core.ts';
import { tooMany } from '../refuse.ts';
import { demandDelivery, isMerchant, presentAttempts, presentDelivery } from './present-delivery.ts';

/** Sends one delivery again. Throws RATE_LIMITED when a merchant does it too often. */
export const replayDelivery: Method<'replayDelivery'> = async (core, { deliveryId, merchantId }, context) => {
  await demandDelivery(core, deliveryId, merchantId);
  const now = core.clock();
  const action = { at: now, action: 'delivery.replay', target: deliveryId };
  const endpoint = await audited(core.database, action, async (query) => {
    const mayReplay = !isMerchant(context) || (await takeQuota(query, merchantId, 'delivery.replay', now));
    if (!mayReplay) throw tooMany(now);
    const replayed = await replayOne(query, deliveryId, now);
    if (!replayed)
      throw new HoldfastError('INVALID_REQUEST', `its body was purged, or it had ${MAX_ATTEMPTS} attempts`);
    return replayed;
  });
  core.announce([endpointName(endpoint)]);
  const [delivery, { attempts }] = [
    await demandDelivery(core, deliveryId, merchantId),
    await presentAttempts(core, context, deliveryId),
  ];
  return { delivery: presentDelivery(delivery, attempts) };
};
