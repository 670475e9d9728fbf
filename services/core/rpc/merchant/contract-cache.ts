import type { Clock } from '../../../../platform/clock.ts';
import type { Database } from '../../storage/database.ts';
import {
  type ChangePosition,
  readChangedMerchants,
  readChangePosition,
} from '../../storage/merchant/changed-merchants.ts';
import { findMerchant, type MerchantRow } from '../../storage/merchant/merchant-row.ts';

/** Merchants' contracts, at most a second old. */
export type ContractCache = ReturnType<typeof openContractCache>;

/** Time for which a core may act on a contract that another core has changed. */
const TTL_MS = 1_000;

/** Age at which changes are asked for ahead, so that a caller waits only when nobody has asked for longer than TTL_MS. */
const AHEAD_MS = 500;

/** Maximum number of contracts kept, some kB each; the one read longest ago goes first. */
const MAX_CONTRACTS = 10_000;

/**
 * Opens the cache. It asks at most twice a second which merchants have changed, whatever their number, and drops those;
 * so a thousand merchants cost what one does. Concurrent lookups share a query. A merchant that does not exist is not
 * cached.
 */
export function openContractCache({ query }: Pick<Database, 'query'>, clock: Clock) {
  const contracts = new Map<string, Promise<MerchantRow | undefined>>();
  let position: ChangePosition | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const dropChanged = async (startedAt: number): Promise<void> => {
    const before = position;
    const now = await readChangePosition(query);
    if (before?.timeline !== now.timeline || before.changeNumber > now.changeNumber) {
      // The database may have gone back in time, and the next change may reuse a number.
      contracts.clear();
    } else if (before.changeNumber < now.changeNumber) {
      for (const id of await readChangedMerchants(query, before.changeNumber)) contracts.delete(id);
    }
    position = now;
    askedAt = startedAt;
  };

  const ask = (now: number): Promise<void> => {
    reading ??= dropChanged(now).finally(() => {
      reading = undefined;
    });
    return reading;
  };

  const isOld = (age: number) => age < 0 || age >= TTL_MS;

  /** Resolves when the contracts are fresh. A clock that was set back counts as old age. */
  const refresh = async (): Promise<void> => {
    const now = clock().getTime();
    const age = now - askedAt;
    if (isOld(age)) {
      await ask(now);
      // The answer may be to a question of long before.
      if (isOld(now - askedAt)) await ask(now);
    } else if (age >= AHEAD_MS) {
      // When that fails, the next caller after TTL_MS hears of it.
      ask(now).catch(() => undefined);
    }
  };

  const load = (merchantId: string): Promise<MerchantRow | undefined> => {
    const contract = findMerchant({ query }, merchantId);
    contracts.set(merchantId, contract);
    if (contracts.size > MAX_CONTRACTS) contracts.delete(contracts.keys().next().value as string);
    const drop = () => {
      if (contracts.get(merchantId) === contract) contracts.delete(merchantId);
    };
    contract.then((found) => found ?? drop(), drop);
    return contract;
  };

  return {
    async find(merchantId: string): Promise<MerchantRow | undefined> {
      await refresh();
      return contracts.get(merchantId) ?? load(merchantId);
    },
    /** Drops the entry of a merchant, after this process has changed its contract. */
    forget: (merchantId: string) => void contracts.delete(merchantId),
  };
}
