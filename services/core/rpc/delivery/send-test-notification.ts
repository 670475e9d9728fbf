import { v7 as uuidv7 } from 'uuid';
import { testNotificationBody } from '../../domain/notification-body.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { insertTestDelivery } from '../../storage/delivery/insert-deliveries.ts';
import { endpointName } from '../../storage/endpoint/endpoint-row.ts';
import { findMerchant } from '../../storage/merchant/merchant-row.ts';
import { takeQuota } from '../../storage/merchant/quota.ts';
import type { Method } from '../core.ts';
import { noSuch, tooMany } from '../refuse.ts';
import { demandDelivery, presentDelivery } from './present-delivery.ts';

/** Sends a notification about nothing to a merchant's webhook. Throws RATE_LIMITED above a few a minute. */
export const sendTestNotification: Method<'sendTestNotification'> = async (core, { merchantId }) => {
  const merchant = await findMerchant(core.database, merchantId);
  if (!merchant) throw noSuch('merchant');
  const at = core.clock();
  const [id, requestId] = [uuidv7(), uuidv7()];
  const body = testNotificationBody({ merchantId, requestId, currency: merchant.currencies[0] ?? 'EUR' }, at);
  const action = { at, action: 'delivery.test', target: merchantId, detail: { deliveryId: id } };
  await audited(core.database, action, async (query) => {
    await spendQuota(query, merchantId, 'delivery.test', at);
    const inserted = await insertTestDelivery(query, { id, merchantId, requestId, body, at });
    if (!inserted) throw new HoldfastError('INVALID_REQUEST', 'the merchant has no webhookUrl');
  });
  core.announce([endpointName({ merchantId, kind: 'webhook' })]);
  return { delivery: presentDelivery(await demandDelivery(core, id, merchantId)) };
};

/** Counts what a merchant may do only so often. Throws RATE_LIMITED. */
export async function spendQuota(...[query, merchantId, action, now]: Parameters<typeof takeQuota>): Promise<void> {
  if (!(await takeQuota(query, merchantId, action, now))) throw tooMany(now);
}
