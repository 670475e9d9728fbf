import type { Clock } from '../clock.ts';
import type { Database } from './database.ts';
import { MerchantEntity, type MerchantRow } from './merchant.ts';

/** Merchants' contracts, as they were at most a second ago. */
export interface Contracts {
  find(merchantId: string): Promise<MerchantRow | undefined>;
  /** Forgets what is remembered of a merchant, after a change made here. */
  forget(merchantId: string): void;
}

/** How long a core may act on a contract that another core has changed. */
const TTL_MS = 1_000;

/** Opens the contracts. A lookup under way is shared; what is not found is not remembered. */
export function openContracts(database: Database, clock: Clock): Contracts {
  const remembered = new Map<string, { until: number; contract: Promise<MerchantRow | undefined> }>();
  const load = async (merchantId: string): Promise<MerchantRow | undefined> => {
    const contract = await database.orm.em.fork().findOne(MerchantEntity, { id: merchantId });
    if (!contract) remembered.delete(merchantId);
    return contract ?? undefined;
  };
  return {
    find(merchantId) {
      const now = clock().getTime();
      const known = remembered.get(merchantId);
      if (known && known.until > now && known.until <= now + TTL_MS) return known.contract;
      const contract = load(merchantId);
      remembered.set(merchantId, { until: now + TTL_MS, contract });
      contract.catch(() => remembered.delete(merchantId));
      return contract;
    },
    forget: (merchantId) => void remembered.delete(merchantId),
  };
}
