/** What merchants want: holds with all that is done with them, and payments to cards. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Merchant } from '../deployment/deployment.ts';
import type { Client } from './client.ts';
import type { Intention, Told } from './intention.ts';

/** How often a token is used, in percent. */
const TOKENS = {
  ok: 62,
  slow: 8,
  declined: 5,
  timeout_applied: 5,
  timeout_lost: 4,
  capture_timeout_applied: 7,
  capture_timeout_lost: 5,
  capture_declined: 2,
  capture_error: 2,
} as const;
export type Token = keyof typeof TOKENS;

export type Storyteller = ReturnType<typeof openStoryteller>;

/** Starts stories about the merchants, drawn from `random`, at a steady pace. */
export function openStoryteller(client: Client, merchants: readonly Merchant[], random: () => number) {
  let serial = 0;
  const among = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;

  /** Drawn at once, so that the plan does not depend on what the service does meanwhile. */
  function draw(token = drawToken(random), merchant = among(merchants)) {
    const parts = merchant.severalCaptures ? 1 + Math.floor(random() * 4) : 0;
    return {
      userId: `u${++serial}`,
      token,
      merchant,
      // No two captures of a hold have the same amount, so the ledger tells them apart.
      parts: Array.from({ length: parts }, (_, part) => 100 + 10 * part + Math.floor(random() * 10)),
      changes: (['increment', 'extension'] as const).filter(() => random() < 0.3),
      isTogether: random() < 0.5,
      last: random(),
      refunds: Math.floor(random() * 4),
    };
  }

  async function tell(drawn: ReturnType<typeof draw>, beforeCaptures?: (requestId: string) => Promise<void>) {
    const placed = await client.want(holdOf(drawn.merchant, drawn.userId, `tok_sandbox_${drawn.token}`));
    if (placed.outcome !== 'done') return;
    const handle = await client.handleOf(placed);
    if (handle === '') return;
    await beforeCaptures?.(placed.requestId ?? '');
    const { merchant, userId, last, parts, changes } = drawn;
    const capture = (amount: number, finalCapture?: boolean) =>
      captureOf(merchant, userId, handle, amount, finalCapture);
    const told = await wantAll(
      [...changes.map((kind) => changeOf(kind, merchant, userId, handle)), ...parts.map((amount) => capture(amount))],
      drawn.isTogether,
    );
    if (!merchant.severalCaptures || last < 0.4) {
      told.push(await client.want(capture(500 + Math.floor(last * 100), merchant.severalCaptures || undefined)));
    } else if (last < 0.65) await client.want(releaseOf(merchant, userId, handle));
    else if (last < 0.85)
      await client.wantRenewed(renewalOf(merchant, userId, handle), releaseOf(merchant, userId, handle));
    const captures = told.filter(({ kind, outcome }) => kind === 'capture' && outcome === 'done');
    const refunds = captures
      .slice(0, drawn.refunds)
      .flatMap((each, index) => [
        refundOf(merchant, userId, each.requestId ?? '', 10 + index),
        refundOf(merchant, userId, each.requestId ?? '', 20 + index),
      ]);
    await wantAll(refunds, drawn.isTogether);
  }

  async function wantAll(intentions: readonly Intention[], together: boolean): Promise<Told[]> {
    if (together) return Promise.all(intentions.map((each) => client.want(each)));
    const told: Told[] = [];
    for (const each of intentions) told.push(await client.want(each));
    return told;
  }

  return {
    /** Plays stories until it is stopped, at most `most` at a time. Resolves when all have ended. */
    start(pauseMs: number, most: number): { stop(): Promise<void> } {
      const telling = new Set<Promise<void>>();
      let stopped = false;
      const running = (async () => {
        while (!stopped) {
          await delay(2 * pauseMs * random());
          if (telling.size >= most) continue;
          const one = (random() < 0.15 ? payOut() : tell(draw())).finally(() => telling.delete(one));
          telling.add(one);
        }
      })();
      return {
        async stop() {
          stopped = true;
          await running;
          await Promise.all(telling);
        },
      };
    },
    /** One story about a card; `beforeCaptures` runs between the hold and its captures. */
    tellOf: (token: Token, merchant: Merchant, beforeCaptures?: (requestId: string) => Promise<void>) =>
      tell(draw(token, merchant), beforeCaptures),
    nextUser: () => `u${++serial}`,
  };

  async function payOut(): Promise<void> {
    const { userId, token, merchant } = draw();
    const body = cardOf(userId, `tok_sandbox_${token}`, 700);
    await client.want({ kind: 'oct', merchant, path: '/oct', body, mark: `credit ${userId} 700` });
  }
}

/** A hold that the user's name identifies. */
export function holdOf(merchant: Merchant, userId: string, tokenId: string, amount = HOLD): Intention {
  const body = cardOf(userId, tokenId, amount);
  return { kind: 'hold', merchant, path: '/preauthorization', body, mark: `authorization ${userId} ${amount}` };
}

/** What a hold is for, and what one that renews it is for. */
const HOLD = 1_500;
const RENEWED = 1_400;

export function captureOf(
  merchant: Merchant,
  userId: string,
  preauthorizationId: string,
  amountToCapture: number,
  finalCapture?: boolean,
): Intention {
  const body = { preauthorizationId, amountToCapture, finalCapture };
  const mark = `capture ${userId} ${amountToCapture}`;
  return { kind: 'capture', merchant, path: '/preauthorization/authorization', body, mark };
}

function releaseOf(merchant: Merchant, userId: string, preauthorizationId: string): Intention {
  const body = { preauthorizationId };
  return { kind: 'release', merchant, path: '/preauthorization/release', body, mark: `void ${userId} ${HOLD}` };
}

function changeOf(
  kind: 'increment' | 'extension',
  merchant: Merchant,
  userId: string,
  preauthorizationId: string,
): Intention {
  const mark = `${kind} ${userId} ${HOLD}`;
  if (kind === 'extension')
    return { kind, merchant, path: '/preauthorization/extend', body: { preauthorizationId }, mark };
  const body = { preauthorizationId, amountToAdd: 200 };
  return { kind, merchant, path: '/preauthorization/increment', body, mark };
}

function renewalOf(merchant: Merchant, userId: string, preauthorizationId: string): Intention {
  const body = { preauthorizationId, amount: RENEWED };
  return {
    kind: 'renewal',
    merchant,
    path: '/preauthorization/renew',
    body,
    mark: `authorization ${userId} ${RENEWED}`,
  };
}

/** The refunds of a hold have different amounts. */
function refundOf(merchant: Merchant, userId: string, captureRequestId: string, amount: number): Intention {
  const body = { captureRequestId, amount };
  return { kind: 'refund', merchant, path: '/refund', body, mark: `refund ${userId} ${amount}` };
}

function cardOf(userId: string, tokenId: string, amount: number) {
  return { tokenId, amount, currency: 'EUR', terminalId: 'T1', userId };
}

function drawToken(random: () => number): Token {
  let left = random() * 100;
  for (const [name, share] of Object.entries(TOKENS)) {
    left -= share;
    if (left < 0) return name as Token;
  }
  return 'ok';
}
