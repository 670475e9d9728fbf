import { updateMerchant } from '../../storage/merchant/change-merchant.ts';
import type { Method } from '../core.ts';
import { endOwnPause, hurryTo } from '../endpoint/change-endpoint.ts';
import { noSuch } from '../refuse.ts';
import { FieldCheck } from '../server/check-fields.ts';
import { checkEndpoint } from './contract-columns.ts';
import { presentMerchant } from './present-merchant.ts';

/**
 * Sets where a merchant's notifications go. A pause that the endpoint itself has caused was about the old address, and ends; what waits for
 * a later attempt is due at the new address now.
 */
export const setWebhookUrl: Method<'setWebhookUrl'> = async (core, { merchantId, webhookUrl: given }) => {
  const webhookUrl = given || null;
  const fields = new FieldCheck();
  checkEndpoint(fields, 'webhook_url', webhookUrl);
  fields.refuse();
  const updated = await updateMerchant(core.database, merchantId, { webhookUrl }, core.clock());
  if (updated === 'NOT_FOUND' || updated === 'CHANGED') throw noSuch('merchant');
  core.contracts.forget(merchantId);
  await endOwnPause(core, { merchantId, kind: 'webhook' });
  await hurryTo(core, merchantId, updated.moved);
  return { merchant: presentMerchant(updated) };
};
