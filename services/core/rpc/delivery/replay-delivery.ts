import { HoldfastError } from '../../domain/refusal.ts';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { replayOne } from '../../storage/delivery/replay-deliveries.ts';
import { endpointName } from '../../storage/endpoint/endpoint.ts';
import type { Method } from '../core.ts';
import { demandDelivery, findDelivery } from './present-delivery.ts';

/** Sends one delivery again. */
export const replayDelivery: Method<'replayDelivery'> = async (core, { deliveryId, merchantId }) => {
  await demandDelivery(core, deliveryId, merchantId);
  const now = core.clock();
  const action = { at: now, action: 'delivery.replay', target: deliveryId };
  const due = await audited(core.database, action, async (query) => {
    const replayed = await replayOne(query, deliveryId, now);
    if (!replayed) throw new HoldfastError('INVALID_REQUEST', 'the body of the delivery was purged');
    return replayed;
  });
  await core.queue.move(due.id, 0);
  void core.queue.trySet([{ id: due.id, endpoint: endpointName(due) }]);
  return { delivery: await findDelivery(core, deliveryId, merchantId) };
};
