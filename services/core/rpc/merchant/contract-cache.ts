import type { Clock } from '../../../../platform/clock.ts';
import type { Database } from '../../storage/database.ts';
import { findMerchant, type MerchantRow } from '../../storage/merchant/merchant-row.ts';

/** Merchants' contracts, at most a second old. */
export type ContractCache = ReturnType<typeof openContractCache>;

/** Time for which a core may act on a contract that another core has changed. */
const TTL_MS = 1_000;

/** Opens the cache. Concurrent lookups of one merchant share a query; a merchant that does not exist is not cached. */
export function openContractCache(database: Database, clock: Clock) {
  const cached = new Map<string, { until: number; contract: Promise<MerchantRow | undefined> }>();
  const load = async (merchantId: string): Promise<MerchantRow | undefined> => {
    const contract = await findMerchant(database, merchantId);
    if (!contract) cached.delete(merchantId);
    return contract;
  };
  return {
    find(merchantId: string): Promise<MerchantRow | undefined> {
      const now = clock().getTime();
      const known = cached.get(merchantId);
      if (known && known.until > now && known.until <= now + TTL_MS) return known.contract;
      const contract = load(merchantId);
      cached.set(merchantId, { until: now + TTL_MS, contract });
      contract.catch(() => cached.delete(merchantId));
      return contract;
    },
    /** Drops the entry of a merchant, after this process has changed its contract. */
    forget: (merchantId: string) => void cached.delete(merchantId),
  };
}
