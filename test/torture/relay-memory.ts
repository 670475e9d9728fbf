/**
 * What a million senders cost: each fails once, about a merchant of its own. Prints the heap before and after, and
 * exits 1 when it has grown by more than the bound of the limiters. `npx node --expose-gc test/torture/relay-memory.ts
 * [senders]`
 */
import { Registry } from 'prom-client';
import { openLimits } from '../../gateway/limits/limits.ts';
import { createPenalties } from '../../gateway/relay/penalties.ts';
import type { Log } from '../../platform/log.ts';

const SENDERS = Number(process.argv[2] ?? 1_000_000);
/** Two limiters of 50 000 keys at about 600 bytes each, doubled for garbage that is not collected yet. */
const BOUND_MB = 120;

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const penalties = createPenalties(openLimits({ log: silent, registry: new Registry() }), silent);
const before = heapMb();
const startedMs = performance.now();
for (let i = 0; i < SENDERS; i++) {
  const network = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
  await penalties.check(network, `m${i}`);
  await penalties.fail(network, `m${i}`);
}
const grownMb = heapMb() - before;
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
process.stdout.write(`${SENDERS} senders in ${seconds} s: heap grew by ${grownMb.toFixed(0)} MB (bound ${BOUND_MB})\n`);
process.exit(grownMb > BOUND_MB ? 1 : 0);

function heapMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
