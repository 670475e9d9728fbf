import type { Clock } from '../clock.ts';
import type { Cipher } from '../storage/cipher.ts';
import type { Database } from '../storage/database.ts';
import { type EndpointTerms, readTerms } from '../storage/endpoint-terms.ts';

/** Terms of merchants' endpoints, as they were at most a second ago: a retired secret or a pause takes effect that fast. */
export interface Terms {
  /** A merchant that does not exist is left out. */
  of(merchantIds: Iterable<string>): Promise<ReadonlyMap<string, EndpointTerms>>;
  /** Forgets what is remembered of a merchant, after its endpoint's state was changed here. */
  forget(merchantId: string): void;
}

export function openTerms(database: Database, cipher: Cipher, clock: Clock): Terms {
  const remembered = new Map<string, { readonly readAtMs: number; readonly terms: EndpointTerms }>();
  return {
    async of(merchantIds) {
      const nowMs = clock().getTime();
      const found = new Map<string, EndpointTerms>();
      const missing: string[] = [];
      for (const merchantId of new Set(merchantIds)) {
        const known = remembered.get(merchantId);
        if (known && Math.abs(nowMs - known.readAtMs) < TTL_MS) found.set(merchantId, known.terms);
        else missing.push(merchantId);
      }
      if (missing.length === 0) return found;
      for (const [merchantId, terms] of await readTerms(database.query, cipher, missing)) {
        found.set(merchantId, terms);
        remembered.delete(merchantId);
        remembered.set(merchantId, { readAtMs: nowMs, terms });
      }
      for (const oldest of remembered.keys()) {
        if (remembered.size <= MAX_REMEMBERED) break;
        remembered.delete(oldest);
      }
      return found;
    },
    forget: (merchantId) => void remembered.delete(merchantId),
  };
}

const TTL_MS = 1_000;
const MAX_REMEMBERED = 10_000;
