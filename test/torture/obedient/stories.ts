/** What merchants want: holds with their captures and releases, and payments to cards. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Merchant } from '../deployment/deployment.ts';
import type { Client } from './client.ts';
import type { Intention } from './intention.ts';

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
      isTogether: random() < 0.5,
      last: random(),
    };
  }

  async function tell(drawn: ReturnType<typeof draw>, beforeCaptures?: (requestId: string) => Promise<void>) {
    const placed = await client.want(holdOf(drawn.merchant, drawn.userId, `tok_sandbox_${drawn.token}`));
    if (placed.outcome !== 'done') return;
    const handle = await client.handleOf(placed);
    if (handle === '') return;
    await beforeCaptures?.(placed.requestId ?? '');
    const capture = (amount: number, finalCapture?: boolean) =>
      client.want(captureOf(drawn.merchant, drawn.userId, handle, amount, finalCapture));
    if (drawn.isTogether) await Promise.all(drawn.parts.map((amount) => capture(amount)));
    else for (const amount of drawn.parts) await capture(amount);
    if (!drawn.merchant.severalCaptures || drawn.last < 0.4) {
      await capture(500 + Math.floor(drawn.last * 100), drawn.merchant.severalCaptures || undefined);
    } else if (drawn.last < 0.75) await client.want(releaseOf(drawn.merchant, drawn.userId, handle));
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
    await client.want({ kind: 'oct', merchant, path: '/oct', body, mark: `credit ${userId}` });
  }
}

/** A hold that the user's name identifies. */
export function holdOf(merchant: Merchant, userId: string, tokenId: string, amount = 1_500): Intention {
  const body = cardOf(userId, tokenId, amount);
  return { kind: 'hold', merchant, path: '/preauthorization', body, mark: `authorization ${userId}` };
}

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
  return { kind: 'release', merchant, path: '/preauthorization/release', body, mark: `void ${userId}` };
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
