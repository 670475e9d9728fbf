import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { errorFields, type Log } from '../../platform/log.ts';
import type { Core } from './client.ts';

export type KeyUses = ReturnType<typeof openKeyUses>;

const REPORT_EVERY_MS = 60_000;
/** What a report may have. More keys are used in a minute by nobody who asks when each was. */
const MOST_KEYS = 1_000;

/** Notes which API keys are used, and reports them to core once a minute. A report that fails is not repeated. */
export function openKeyUses(core: Pick<Core, 'merchants'>, log: Log, everyMs = REPORT_EVERY_MS) {
  const usedAtMs = new Map<string, number>();
  const report = async (): Promise<void> => {
    const uses = Array.from(usedAtMs, ([hash, atMs]) => {
      return { apiKeyHash: Buffer.from(hash, 'base64'), usedAt: timestampFromMs(atMs) };
    });
    usedAtMs.clear();
    if (uses.length === 0) return;
    await core.merchants.reportApiKeyUses({ uses }).catch((error) => {
      log.warn('uses of API keys not reported', errorFields(error));
    });
  };
  const reporting = setInterval(() => void report(), everyMs).unref();
  return {
    /** Notes a use of the key with this hash (apiKeyHash()). */
    note(hash: string): void {
      if (usedAtMs.size < MOST_KEYS || usedAtMs.has(hash)) usedAtMs.set(hash, Date.now());
    },
    close: async (): Promise<void> => {
      clearInterval(reporting);
      await report();
    },
  };
}
