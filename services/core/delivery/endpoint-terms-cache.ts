import type { Cipher } from '../cipher.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../storage/database.ts';
import { type EndpointTerms, readEndpointTerms } from '../storage/endpoint/endpoint-terms.ts';

/** Terms of merchants' endpoints, at most a second old: a retired secret or a pause takes effect that fast. */
export interface EndpointTermsCache {
  /** Returns the terms by merchant; a merchant that does not exist is left out. */
  find(merchantIds: Iterable<string>): Promise<ReadonlyMap<string, EndpointTerms>>;
  /** Drops the entry of a merchant, after this process has changed an endpoint's state. */
  forget(merchantId: string): void;
}

export function openEndpointTermsCache(database: Database, cipher: Cipher, clock: Clock): EndpointTermsCache {
  const cached = new Map<string, { readonly readAtMs: number; readonly terms: EndpointTerms }>();
  return {
    async find(merchantIds) {
      const nowMs = clock().getTime();
      const found = new Map<string, EndpointTerms>();
      const missing: string[] = [];
      for (const merchantId of new Set(merchantIds)) {
        const known = cached.get(merchantId);
        if (known && Math.abs(nowMs - known.readAtMs) < TTL_MS) found.set(merchantId, known.terms);
        else missing.push(merchantId);
      }
      if (missing.length === 0) return found;
      for (const [merchantId, terms] of await readEndpointTerms(database.query, cipher, missing)) {
        found.set(merchantId, terms);
        cached.delete(merchantId);
        cached.set(merchantId, { readAtMs: nowMs, terms });
      }
      for (const oldest of cached.keys()) {
        if (cached.size <= MAX_CACHED) break;
        cached.delete(oldest);
      }
      return found;
    },
    forget: (merchantId) => void cached.delete(merchantId),
  };
}

const TTL_MS = 1_000;
const MAX_CACHED = 10_000;
