import { Gather } from '../../../platform/gather.ts';
import type { Database } from '../storage/database.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import { findHoldsAt } from '../storage/hold/read-holds.ts';
import { findMerchant, type MerchantRow } from '../storage/merchant/merchant-row.ts';

/** What imports read, for many at once. */
export type ImportReads = ReturnType<typeof openImportReads>;

/** Opens the reads of one run. */
export function openImportReads(database: Database) {
  const merchants = new Map<string, Promise<MerchantRow | undefined>>();
  const holds = new Gather<{ identifier: string; processor: string }, HoldRow | undefined>(
    (batch) => findHoldsAt(database.query, batch),
    { maxBatch: 256, lanes: 2 },
  );
  return {
    /** The merchant, as it was at the first look. */
    merchant(merchantId: string): Promise<MerchantRow | undefined> {
      const found = merchants.get(merchantId) ?? findMerchant(database, merchantId);
      merchants.set(merchantId, found);
      return found;
    },
    /** The hold of an authorization: its identifier at a processor. */
    hold: (identifier: string, processor: string) => holds.submit({ identifier, processor }),
  };
}
