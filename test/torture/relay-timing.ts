/**
 * Whether time tells an unknown merchant from a wrong signature, and an unknown sender from a wrong signature of each
 * scheme: sends all in turn, in random order, each from an
 * address of its own so that no limit answers, and prints medians, quartiles and Welch's t of the middle nine tenths.
 * Reports only: a machine's noise is no verdict. `npx node test/torture/relay-timing.ts [requests of each case]`
 */
import { BODY, SCHEMES } from '../gateway/relay/senders.ts';
import { notification, openStage, type Sent } from '../gateway/relay/stage.ts';

const EACH = Number(process.argv[2] ?? 10_000);
const WARM_UP = 1_000;

const known = notification();
const NOW = Math.floor(Date.now() / 1_000);
/** Everything that any scheme reads, so that the requests differ in nothing but the sender. */
const ALL_HEADERS: Record<string, string> = Object.assign({}, ...Object.values(SCHEMES).map(({ sign }) => sign(NOW)));
const ofSender = (senderId: string): Sent => ({
  path: `/webhook/relay/${senderId}`,
  body: BODY.replace('1000', '1001'),
  headers: ALL_HEADERS,
});
const SENDERS = Object.entries(SCHEMES).map(([name, { sender }]): [string, Sent] => {
  return [`sender, ${name}`, ofSender(sender.credentials.senderId)];
});
const CASES: Readonly<Record<string, Sent>> = {
  'wrong signature': { body: known.body, signature: notification({ amount: '1' }).signature },
  'unknown merchant': notification({ merchantId: 'none' }),
  'merchant without secrets': { ...notification({ merchantId: 'closed', requestId: 'RE-1' }) },
  'missing signature': { body: known.body, signature: null },
  'unknown sender': ofSender('0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'),
  ...Object.fromEntries(SENDERS),
};

const stage = await openStage();
for (const { sender } of Object.values(SCHEMES)) stage.senders.set(sender.credentials.senderId, sender);
const times = new Map(Object.keys(CASES).map((name) => [name, [] as number[]]));
const names = Object.keys(CASES);
for (let i = 0; i < WARM_UP + EACH * names.length; i++) {
  const name = names[Math.floor(Math.random() * names.length)] ?? '';
  const from = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
  const startedMs = performance.now();
  const { status } = await stage.send({ ...CASES[name], from });
  const tookMs = performance.now() - startedMs;
  if (status !== 401) throw new Error(`${name}: ${status}`);
  if (i >= WARM_UP) times.get(name)?.push(tookMs);
}
await stage.close();

const trimmed = new Map([...times].map(([name, values]) => [name, trim(values)]));
for (const [name, values] of trimmed) {
  const against = name.includes('sender') ? 'unknown sender' : 'wrong signature';
  const base = trimmed.get(against) ?? [];
  const [q1, median, q3] = [0.25, 0.5, 0.75].map((share) => values[Math.floor(values.length * share)] ?? 0);
  const figures = [q1, median, q3].map((ms) => `${(1000 * (ms ?? 0)).toFixed(0)} µs`).join(' / ');
  process.stdout.write(
    `${name}: n ${values.length}, quartiles ${figures}, t against ${against} ${welch(values, base).toFixed(2)}\n`,
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
