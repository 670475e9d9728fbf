/** Constantly active buyers of a merchant, who speak gRPC with one core. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { OneCore } from '../stage/one-core.ts';

export type Buyers = ReturnType<typeof startBuyers>;

/** A hold, and the answers that its buyer got. */
export interface Bought {
  readonly requestId: string;
  readonly amount: number;
  readonly plan: Plan;
  /** One for each wanted capture, acknowledged or not. */
  readonly wanted: Wanted[];
}

interface Wanted {
  /** The capture's requestId, once it was answered as done. */
  acknowledged: string | undefined;
  /** Repeats the capture under its key while core is down. */
  ask(): Promise<void>;
}

/** What becomes of what a buyer leaves of a hold, by itself. */
type Plan = 'nothing' | 'captured' | 'expired' | 'renewed' | 'kept';
const PLANS: readonly Plan[] = ['nothing', 'nothing', 'captured', 'expired', 'renewed', 'kept'];

/** Buyers who place holds, capture them in parts, and repeat unanswered calls under the same key. */
export function startBuyers(stage: OneCore, count: number) {
  const bought: Bought[] = [];
  let stopped = false;
  let serial = 0;
  let answered = 0;
  /** Repeats while core is down. Undefined = refused, or told to retry later. */
  async function ask<T>(call: () => Promise<T>): Promise<T | undefined> {
    for (let tries = 0; tries < 200; tries++) {
      try {
        return await call();
      } catch (error) {
        const { code } = error as { code: number };
        assert(code !== INTERNAL, `core had an unexpected error: ${(error as Error).message}`);
        if (![UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED].includes(code)) return undefined;
        await delay(50);
      }
    }
    return undefined;
  }
  async function buy(): Promise<void> {
    const mine = serial++;
    const plan = PLANS[mine % PLANS.length] ?? 'nothing';
    const tokenId = plan === 'kept' ? 'tok_sandbox_guarantee_short' : 'tok_sandbox_ok';
    const common = { merchantId: 'acme', tokenId, currency: 'EUR', terminalId: 'T1', userId: 'u' };
    const soon = timestampFromMs(Date.now() + SOON_MS);
    const times = {
      ...(plan === 'captured' && { captureAt: soon }),
      ...(plan === 'expired' && { releaseAt: soon }),
      ...(plan === 'kept' && { keepUntil: timestampFromMs(Date.now() + KEPT_MS) }),
    };
    const place = { ...common, ...times, amount: BigInt(AMOUNT), idempotencyKey: `place-${mine}` };
    const placed = await ask(() => stage.holds.createPreauthorization(place));
    const { preauthorizationId = '', requestId = '' } = placed?.preauthorization ?? {};
    if (preauthorizationId === '') return;
    const wanted = PARTS.slice(0, CAPTURED[plan]).map((part, index): Wanted => {
      const idempotencyKey = `capture-${mine}-${index}`;
      const capture = { merchantId: 'acme', preauthorizationId, amountToCapture: BigInt(part), idempotencyKey };
      return {
        acknowledged: undefined,
        async ask() {
          const answer = await ask(() => stage.holds.capturePreauthorization(capture));
          if (answer?.capture?.captureDate) this.acknowledged = answer.capture.requestId;
          if (answer) answered++;
        },
      };
    });
    bought.push({ requestId, amount: AMOUNT, plan, wanted });
    if (plan === 'kept') {
      for (const want of wanted) {
        await delay(RENEWED_AFTER_MS);
        await want.ask();
      }
      return;
    }
    await Promise.all(wanted.map((want) => want.ask()));
    if (plan !== 'renewed') return;
    const renewal = { merchantId: 'acme', requestId, amount: BigInt(AMOUNT), idempotencyKey: `renew-${mine}` };
    await ask(() => stage.holds.renewPreauthorization(renewal));
  }
  const running = Array.from({ length: count }, async () => {
    while (!stopped) await buy();
  });
  return {
    bought: bought as readonly Bought[],
    /** Waits until buyers are served again: what goes wrong then interrupts something. Each has a call in flight. */
    async untilBusy(): Promise<number> {
      const before = answered;
      while (answered < before + count) await delay(10);
      return count;
    },
    async stop(): Promise<void> {
      stopped = true;
      await Promise.all(running);
    },
  };
}

const [CANCELLED, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE] = [1, 4, 13, 14];
/** A hold, and the captures that its buyer wants: more than it allows. */
const AMOUNT = 1_000;
const PARTS = [300, 400, 300, 200];
const CAPTURED: Readonly<Record<Plan, number>> = {
  nothing: PARTS.length,
  captured: 1,
  expired: 1,
  renewed: 1,
  kept: 2,
};
/** How long a hold is kept, and when its first authorization has been renewed unless core is down. */
const KEPT_MS = 8_000;
const RENEWED_AFTER_MS = 1_600;
/** When a hold captures or ends by itself: soon, and not before a core that was killed serves again. */
const SOON_MS = 2_000;
