/** What merchants, their customers, the processors and the worker do at random, and what was answered. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import type { Preauthorization } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { payAt, type Shop } from '../../services/core/shop.ts';
import { contract, refusal } from '../../services/core/stage.ts';
import { confirm } from '../../services/sandbox/checkout/browse.ts';
import type { Merchants } from '../play.ts';
import { MOVING, type TwoProcessors } from '../stage/two-processors.ts';

export interface Answered {
  readonly requestId?: string | undefined;
  readonly state?: OperationState | undefined;
  readonly url?: string | undefined;
  /** The page is that of the card's issuer. */
  readonly isStepUp?: boolean;
  /** The code of a refusal; empty where the call failed without one. */
  readonly refused?: string;
}

/** A call of a merchant, which can be repeated. */
export interface Deed {
  readonly label: string;
  readonly first: Answered;
  readonly again: () => Promise<Answered>;
}

export type Story = ReturnType<typeof openStory>;
export type Step = keyof Story['steps'];

/** Merchants who act step by step, in the stories that a fault begins. */
export interface Steppers extends Merchants {
  /** The last story, with what was called before its end was lost. */
  round?: { readonly story: Story; readonly goBack: () => Promise<void>; readonly before: readonly Deed[] };
}

/** Steps between a restore and its notice. */
export const UNNOTICED: readonly Step[] = [
  ...(['events', 'inquire', 'expire', 'captureDue', 'renewKept', 'pay'] as const),
  ...(['capture', 'capture', 'release', 'releasePart', 'increment', 'extend', 'refund'] as const),
];
/** The share of keyed calls while the database may be reconciled: one with a key is refused. */
const SOME_KEYED = 0.4;

/**
 * What the sandbox does with a hold. `increment_accepted` is missing: when a hold is released here while its lost
 * increment is only accepted, the books may disagree, which is a known limit.
 */
const TOKENS = [
  ...['ok', 'ok', 'ok', 'ok', 'declined', 'accepted', 'timeout_applied', 'increment_timeout_applied'],
  ...['decrease_timeout_applied', 'decrease_accepted', 'decrease_declined'],
  ...['capture_accepted', 'capture_accepted_declined', 'capture_declined', 'single_capture'],
  ...['capture_timeout_applied', 'capture_timeout_lost', 'extension_accepted', 'refund_accepted', 'refund_declined'],
  ...['refund_timeout_applied', 'void_accepted', 'void_timeout_applied', 'void_timeout_lost', 'ended_early'],
  ...['expires_2s', 'reversed', 'reversed_in_part', 'reversed_unattributed', 'reversed_reinstated'],
  ...['reversed_in_two_parts', 'reversed_again', 'refund_returned_in_part', 'refund_returned_in_two_parts'],
  ...['ended_after_capture'],
];
/** Tokens whose issuer asks the customer, and what comes with them. */
const CHALLENGES = ['challenge', 'challenge', 'challenge', 'challenge_failed', 'challenge_lost'];
/** Tokens of holds that are kept: the card scheme guarantees an authorization of theirs for two seconds. */
const KEPT_TOKENS = [
  ...['guarantee_short', 'guarantee_short', 'guarantee_short', 'renewal_accepted', 'renewal_accepted_declined'],
  ...['renewal_declined', 'renewal_error', 'renewal_timeout_applied', 'renewal_timeout_lost'],
];
const PRESENT = { customerPresent: true, returnUrl: 'https://shop.example/done' };
const OCT_TOKENS = ['ok', 'accepted', 'declined', 'timeout_applied', 'oct_returned', 'oct_returned_in_two_parts'];
/** Paid three times in seven; the others are declined, or fail later. */
const CARDS = [
  ...['4242 4242 4242 4242', '4242 4242 4242 4242', '4242 4242 4242 4242', '4000 0000 0000 0002'],
  ...['4000 0000 0000 0119', '4000 0000 0000 5118', '4000 0000 0000 5092'],
];
/** Most holds neither capture nor end by themselves. */
const PLAIN = Array<object>(5).fill({});
const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000];
const KEPT_MS = [MINUTE_MS, HOUR_MS, 20 * DAY_MS];
const WAITS_MS = [1_000, 3_000, 3_000, MINUTE_MS + 1_000, HOUR_MS];

/** Opens a story of both merchants, of whom `moving` is moved between the processors. Its steps follow `random`. */
export function openStory(stage: TwoProcessors, random: () => number) {
  const { staying, moving } = stage;
  const lines: string[] = [];
  const deeds: Deed[] = [];
  const holds: { shop: Shop; requestId: string; url: string; isStepUp: boolean }[] = [];
  const captures: { shop: Shop; requestId: string }[] = [];
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const say = (line: string) => void lines.push(line);
  let keys = 0;
  let keyed = 1;

  /** Calls core, remembers the answer, and returns it. */
  async function act(what: string, call: Call): Promise<Answered> {
    const key = random() < keyed ? { idempotencyKey: `key-${keys++}` } : {};
    const again = () => answered(call(key));
    const first = await again();
    const label = `${what} (${key.idempotencyKey ?? 'no key'})`;
    say(`${label}: ${shown(first)}`);
    deeds.push({ label, first, again });
    return first;
  }
  async function place(shop: Shop, what: string, call: Call) {
    const { requestId, url = '', isStepUp = false } = await act(`${shop.merchantId} ${what}`, call);
    if (requestId) holds.push({ shop, requestId, url, isStepUp });
  }
  /** Does something about a hold that was placed, if the one it draws was. */
  async function onPlaced(does: (shop: Shop, hold: Preauthorization) => Promise<unknown>) {
    const { shop, requestId } = pick(holds);
    const hold = await shop.get({ requestId }).catch(() => undefined);
    if (hold?.preauthorizationId) await does(shop, hold);
  }

  const steps = {
    async hold() {
      const [shop, tokenId] = [pick([staying, staying, moving]), `tok_sandbox_${pick(TOKENS)}`];
      const soon = timestampFromMs(stage.clock.now() + MINUTE_MS);
      const ends = pick([...PLAIN, { captureAt: soon }, { releaseAt: soon }]);
      await place(shop, `hold ${tokenId} ${Object.keys(ends)}`, (key) => shop.place({ tokenId, ...ends, ...key }));
    },
    /** A hold that renews itself, soon after it was placed. */
    async keep() {
      const [shop, token] = [pick([staying, staying, moving]), pick(KEPT_TOKENS)];
      const keepUntil = timestampFromMs(stage.clock.now() + pick(KEPT_MS));
      await place(shop, `hold ${token} that is kept`, (key) => {
        return shop.place({ tokenId: `tok_sandbox_${token}`, keepUntil, ...key });
      });
    },
    /** A merchant wants a hold longer than it said, or no longer. */
    keepOtherwise: () =>
      onPlaced(async ({ merchantId }, { requestId }) => {
        const keepUntil = pick([undefined, ...KEPT_MS.map((ms) => timestampFromMs(stage.clock.now() + ms))]);
        const change = { merchantId, requestId, keepUntil, updateMask: { paths: ['keep_until'] } };
        const done = stage.channel('gateway').holds.updatePreauthorization(change);
        say(`keep ${requestId} ${keepUntil ? 'until another time' : 'no longer'}: ${shown(await answered(done))}`);
      }),
    async checkout() {
      const shop = pick([staying, staying, moving]);
      await place(shop, 'checkout', (key) => shop.checkout(key));
    },
    async stepUp() {
      const [shop, token] = [pick([staying, staying, moving]), pick(CHALLENGES)];
      await place(shop, `hold with ${token}`, (key) => {
        return shop.place({ tokenId: `tok_sandbox_${token}`, ...PRESENT, ...key });
      });
    },
    /** The customer enters a card at a checkout, or answers the issuer. */
    async pay() {
      const checkout = pick(holds.filter(({ url }) => url !== ''));
      if (!checkout) return;
      if (checkout.isStepUp) {
        const action = pick(['pass', 'pass', 'fail'] as const);
        const { status } = await confirm(checkout.url, action).catch(() => ({ status: 'not answered' }));
        return say(`${action} ${checkout.requestId} at its issuer: ${status}`);
      }
      const number = pick(CARDS);
      say(`pay ${checkout.requestId} with ${number}: ${await payAt(checkout.url, { number }).catch(String)}`);
    },
    capture: () =>
      onPlaced(async (shop, hold) => {
        const [amount, finalCapture] = [pick([300n, 1_000n, 5_000n, 10_000n]), random() < 0.25];
        const what = `capture ${amount} of ${hold.requestId}${finalCapture ? ', final' : ''}`;
        const { requestId } = await act(what, (key) => shop.capture(hold, amount, { finalCapture, ...key }));
        if (requestId) captures.push({ shop, requestId });
      }),
    increment: () =>
      onPlaced((shop, hold) => act(`increment ${hold.requestId}`, (key) => shop.increment(hold, 2_000n, key))),
    extend: () => onPlaced((shop, hold) => act(`extend ${hold.requestId}`, (key) => shop.extend(hold, key))),
    async release() {
      const hold = pick(holds);
      await act(`release ${hold.requestId}`, (key) => hold.shop.release(hold, key));
    },
    releasePart: () =>
      onPlaced((shop, hold) => {
        const amount = pick([300n, 1_000n, 4_000n]);
        return act(`give ${amount} of ${hold.requestId} back`, (key) => shop.releasePart(hold, amount, key));
      }),
    async renew() {
      const hold = pick(holds);
      await place(hold.shop, `renew ${hold.requestId}`, (key) => hold.shop.renew(hold, key));
    },
    async refund() {
      const capture = pick(captures);
      if (!capture) return;
      const amount = pick([undefined, 100n, 300n]);
      const what = `refund ${amount ?? 'all'} of ${capture.requestId}`;
      await act(what, (key) => capture.shop.refund(capture, amount, key));
    },
    async oct() {
      const [shop, tokenId] = [pick([staying, moving]), `tok_sandbox_${pick(OCT_TOKENS)}`];
      await act(`${shop.merchantId} oct ${tokenId}`, (key) => shop.oct({ tokenId, ...key }));
    },
    async move() {
      const processor = pick(['first', 'second']);
      say(`${moving.merchantId} moves to the processor ${processor}`);
      const terms = contract({ ...MOVING, processor });
      const { merchantId } = moving;
      await stage.channel('operator').merchants.updateMerchant({ merchantId, name: merchantId, contract: terms });
    },
    async wait() {
      const ms = random() < 0.1 ? 2 * DAY_MS : pick(WAITS_MS);
      say(`${ms} ms pass`);
      stage.clock.advance(ms);
    },
    async events() {
      say('the processors report');
      await stage.sandbox.reportDue();
      await stage.second?.reportDue();
    },
    inquire: async () => say(`inquired: ${await stage.inquire()}`),
    expire: async () => say(`expired: ${await stage.expire()}`),
    captureDue: async () => say(`captured by themselves: ${await stage.captureDue()}`),
    renewKept: async () => say(`renewed or voided since kept: ${await stage.renewKept()}`),
    releaseRenewed: async () => say(`released since renewed: ${await stage.releaseRenewed()}`),
  };
  return {
    deeds: deeds as readonly Deed[],
    random,
    pick,
    say,
    /** Throws with the whole story what goes wrong in a part of it. */
    explain: <T>(part: () => Promise<T>): Promise<T> =>
      part().catch((cause) => {
        throw new Error([(cause as Error).message, ...lines].join('\n'), { cause });
      }),
    steps,
    /** Places a hold of each merchant. */
    async begin() {
      for (const shop of [staying, moving]) await place(shop, 'hold', (key) => shop.place(key));
    },
    /** Plays as many of these steps, drawn at random. */
    async play(count: number, names: readonly (keyof typeof steps)[], calls: 'all keyed' | 'some keyed' = 'all keyed') {
      keyed = calls === 'all keyed' ? 1 : SOME_KEYED;
      for (let played = 0; played < count; played++) await steps[pick(names)]();
    },
  };
}

/** What the answers of core's methods have in common. */
interface Answer {
  readonly requestId?: string;
  readonly state?: OperationState;
  readonly preauthorization?: Preauthorization | undefined;
  readonly capture?: Operation | undefined;
  readonly refund?: Operation | undefined;
  readonly oct?: Operation | undefined;
}
type Call = (key: { idempotencyKey?: string }) => Promise<Answer>;
type Operation = Readonly<{ requestId: string; state: OperationState }>;

/** What a call was answered, or refused with. */
export async function answered(call: Promise<Answer>): Promise<Answered> {
  try {
    const { capture, refund, oct, preauthorization, ...own } = await call;
    const { requestId = preauthorization?.requestId, state } = capture ?? refund ?? oct ?? own;
    const url = preauthorization?.nextAction?.url ?? preauthorization?.checkoutUrl;
    return { requestId, state, url, isStepUp: preauthorization?.nextAction !== undefined };
  } catch (error) {
    const { reason, metadata } = await refusal(Promise.reject(error));
    return { refused: reason, requestId: metadata.requestId };
  }
}

/** An answer in a few words. */
export function shown({ requestId, state, refused }: Answered): string {
  return `${refused ?? OperationState[state ?? 0]} ${requestId ?? ''}`.trim();
}
