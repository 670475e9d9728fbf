import { reachableIfAllowed } from '../../delivery/destination.ts';
import type { MerchantRow } from '../../storage/merchant/merchant.ts';

/**
 * What may keep notifications from arriving, as far as a contract shows it: addresses that are delivered to only when a setting of the
 * workers, which core does not know, has their network.
 */
export function contractWarnings({ webhookUrl, internalUrl }: Pick<MerchantRow, 'webhookUrl' | 'internalUrl'>) {
  return [
    ...warningsOf('contract.webhook_url', webhookUrl, 'WEBHOOK_ALLOWED_CIDRS'),
    ...warningsOf('contract.internal_url', internalUrl, 'INTERNAL_ALLOWED_CIDRS'),
  ];
}

function warningsOf(field: string, value: string | null | undefined, setting: string) {
  const url = value ? URL.parse(value) : null;
  const reason = url && reachableIfAllowed(url);
  if (!reason) return [];
  return [{ field, description: `${reason}; deliveries fail unless ${setting} of the workers has its network` }];
}
