/** For each delivery of `check-receiver` a fault that it must see: what a good receiver answers, spoilt in one respect. */
import type { Received, Spoil } from './good-receiver.ts';

const header = ({ request }: Received, name: string) => String(request.headers[name] ?? '');

/** Answers so when a condition holds. */
const when =
  (isSo: (received: Received) => boolean, status: number): Spoil =>
  (received) =>
    isSo(received) ? status : received.good;

const isTyped = (type: string, status = 500) => when(({ json }) => json.type === type, status);
const isSeen = (status: number) => when(({ before }) => before > 0, status);
const ageSeconds = (received: Received) => Date.now() / 1_000 - Number(header(received, 'webhook-timestamp'));
const signature = (received: Received) => header(received, 'webhook-signature');
const isUnsigned = (received: Received) => signature(received) === '';
const isForged = (received: Received) => received.good !== 200;
const accepts = (isSo: (received: Received) => boolean) =>
  when((received) => isForged(received) && isSo(received), 200);
const breaks = (isSo: (received: Received) => boolean) => when((received) => isForged(received) && isSo(received), 500);

let open = 0;
let greatestSequence = 0;
let isBlocked = false;
const sockets = new WeakMap<object, number>();

/** More than some requests at the same time. */
const limit =
  (most: number): Spoil =>
  async ({ good }) => {
    open++;
    await new Promise((resolve) => setTimeout(resolve, 50));
    const isTooMany = open > most;
    await new Promise((resolve) => setTimeout(resolve, 50));
    open--;
    return isTooMany ? 503 : good;
  };

export const SPOILT: Readonly<Record<string, Spoil>> = {
  ordinary: () => 404,
  repeated: isSeen(409),
  'repeated-bytes': isSeen(401),
  'repeated-at-once': isSeen(500),
  'twenty-at-once': limit(10),
  'out-of-order': ({ json, good }) => {
    const isLate = Number(json.sequence) < greatestSequence;
    greatestSequence = Math.max(greatestSequence, Number(json.sequence));
    return isLate ? 409 : good;
  },
  late: when(({ json }) => Date.now() - Date.parse(String(json.finalStateDate)) > 86_400_000, 401),
  'ko-after-ok': isTyped('payment.reversed', 409),
  declined: when(({ json }) => json.status === 'KO', 400),
  authorized: isTyped('payment.authorized'),
  payout: when(({ request }) => request.url?.includes('/oct/') ?? false, 404),
  'other-amount': when(({ json, before }) => before > 0 && json.amount !== 1_050, 500),
  test: when(({ json }) => json.operation === undefined, 400),
  'unknown-type': isTyped('payment.check_receiver'),
  'unknown-fields': when(({ json }) => 'checkReceiver' in json, 400),
  'without-type': when(({ json }) => json.type === undefined, 400),
  'two-secrets': when((received) => signature(received).includes(' '), 401),
  'other-version': when((received) => !signature(received).startsWith('v1,'), 401),
  'header-case': when(({ request }) => request.rawHeaders.includes('WEBHOOK-ID'), 401),
  charset: when((received) => header(received, 'content-type') !== 'application/json', 415),
  'slow-body': when(({ pieces }) => pieces > 1, 401),
  unicode: when(({ raw }) => raw.some((byte) => byte > 127), 401),
  'spelled-otherwise': when(({ raw, json }) => raw.toString() !== JSON.stringify(json), 401),
  large: when(({ raw }) => raw.length > 16_384, 413),
  'large-amount': when(({ json }) => Number(json.amount) > 2 ** 31, 500),
  'clock-behind': when((received) => ageSeconds(received) > 60, 401),
  'clock-ahead': when((received) => ageSeconds(received) < -60, 401),
  'one-connection': ({ request, good }) => {
    const count = (sockets.get(request.socket) ?? 0) + 1;
    sockets.set(request.socket, count);
    return count > 1 ? 500 : good;
  },
  unsigned: accepts(isUnsigned),
  'wrong-secret': accepts((received) => signature(received).startsWith('v1,')),
  'empty-secret': accepts((received) => signature(received).startsWith('v1,')),
  stale: accepts((received) => ageSeconds(received) > 300),
  future: accepts((received) => ageSeconds(received) < -300),
  'timestamp-renewed': accepts((received) => signature(received).startsWith('v1,')),
  'id-changed': accepts((received) => header(received, 'webhook-id') !== ''),
  'amount-changed': accepts(({ json }) => json.amount === 999_900),
  'type-changed': accepts(({ json }) => json.type === 'payment.captured'),
  'fields-shifted': accepts(({ json }) => !String(json.requestId).startsWith('check-receiver')),
  'written-again': accepts(({ raw, json }) => raw.toString() !== JSON.stringify(json)),
  'service-signature-alone': accepts((received) => header(received, 'x-service-signature') !== ''),
  'signature-cut': accepts((received) => signature(received).length === 11),
  'signature-empty': accepts((received) => signature(received).length < 4),
  'signature-malformed': breaks((received) => signature(received).length !== 47),
  'signature-case': accepts((received) => signature(received) === signature(received).toLowerCase()),
  'timestamp-malformed': accepts((received) => Number.isNaN(Number(header(received, 'webhook-timestamp')))),
  'empty-body': breaks(({ raw }) => raw.length === 0),
  'broken-json': breaks(({ json }) => Object.keys(json).length === 0),
  'not-utf-8': breaks(({ raw }) => raw.includes(0)),
  'deep-json': when(({ raw }) => raw.toString().startsWith('[[['), 0),
  'huge-body': breaks(({ raw }) => raw.length > 2 ** 20),
  'other-content-type': breaks((received) => header(received, 'content-type') !== 'application/json'),
  'get-and-head': when(({ request }) => request.method !== 'POST', 500),
  'after-a-refusal': (received) => {
    isBlocked ||= isForged(received);
    return isBlocked ? 403 : received.good;
  },
  'broken-off': () => 503,
  'still-well': () => 429,
};
