/**
 * Whether time tells an unknown merchant from a wrong signature: sends both in turn, in random order, each from an
 * address of its own so that no limit answers, and prints medians, quartiles and Welch's t of the middle nine tenths.
 * Reports only: a machine's noise is no verdict. `npx node test/torture/relay-timing.ts [requests of each case]`
 */
import { notification, openStage } from '../gateway/relay/stage.ts';

const EACH = Number(process.argv[2] ?? 10_000);
const WARM_UP = 1_000;

const known = notification();
const CASES = {
  'wrong signature': { body: known.body, signature: notification({ amount: '1' }).signature },
  'unknown merchant': notification({ merchantId: 'none' }),
  'merchant without secrets': { ...notification({ merchantId: 'closed', requestId: 'RE-1' }) },
  'missing signature': { body: known.body, signature: null },
} as const;

const stage = await openStage();
const times = new Map(Object.keys(CASES).map((name) => [name, [] as number[]]));
const names = Object.keys(CASES) as (keyof typeof CASES)[];
for (let i = 0; i < WARM_UP + EACH * names.length; i++) {
  const name = names[Math.floor(Math.random() * names.length)] as keyof typeof CASES;
  const from = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
  const startedMs = performance.now();
  const { status } = await stage.send({ ...CASES[name], from });
  const tookMs = performance.now() - startedMs;
  if (status !== 401) throw new Error(`${name}: ${status}`);
  if (i >= WARM_UP) times.get(name)?.push(tookMs);
}
await stage.close();

const trimmed = new Map([...times].map(([name, values]) => [name, trim(values)]));
const base = trimmed.get('wrong signature') ?? [];
for (const [name, values] of trimmed) {
  const [q1, median, q3] = [0.25, 0.5, 0.75].map((share) => values[Math.floor(values.length * share)] ?? 0);
  const figures = [q1, median, q3].map((ms) => `${(1000 * (ms ?? 0)).toFixed(0)} µs`).join(' / ');
  process.stdout.write(
    `${name}: n ${values.length}, quartiles ${figures}, t against wrong signature ${welch(values, base).toFixed(2)}\n`,
  );
}

function trim(values: number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.slice(Math.floor(sorted.length * 0.05), Math.ceil(sorted.length * 0.95));
}

/** Below about 2 the means cannot be distinguished. */
function welch(a: number[], b: number[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const spread = (values: number[], middle: number) =>
    values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1) / values.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  return Math.abs(meanA - meanB) / Math.sqrt(spread(a, meanA) + spread(b, meanB));
}
