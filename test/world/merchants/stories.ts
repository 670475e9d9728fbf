/** What merchants want: holds with all that is done with them, and payments to cards. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Merchant } from '../../torture/deployment/deployment.ts';
import type { Client } from './client.ts';
import type { Intention, Told } from './intention.ts';
import type { Kind } from './promise.ts';

/** How often a token is used, in percent. */
const TOKENS = {
  ok: 59,
  slow: 8,
  declined: 5,
  timeout_applied: 5,
  timeout_lost: 4,
  decrease_timeout_applied: 3,
  capture_timeout_applied: 7,
  capture_timeout_lost: 5,
  capture_declined: 2,
  capture_error: 2,
} as const;
export type Token = keyof typeof TOKENS;

/** Holds that are not plain: their share in percent, their tokens, and what they say besides. */
const LIVES = {
  /** It renews itself about once a second, while the story goes on. */
  kept: {
    share: 8,
    tokens: [
      ...(['guarantee_short', 'guarantee_short', 'guarantee_short', 'renewal_accepted'] as const),
      ...(['renewal_declined', 'renewal_timeout_applied', 'renewal_timeout_lost'] as const),
    ],
    says: () => ({ keepUntil: new Date(Date.now() + KEPT_MS).toISOString() }),
  },
  /** The issuer asks the customer. */
  asked: {
    share: 4,
    tokens: ['challenge', 'challenge', 'challenge_failed'] as const,
    says: () => ({ customerPresent: true, returnUrl: 'https://shop.example/done' }),
  },
} as const;
const KEPT_MS = 20_000;
/** Longer than a renewal takes when nothing is wrong. */
const RENEWED_AFTER_MS = 2_500;
type Life = keyof typeof LIVES | 'plain';

export type Storyteller = ReturnType<typeof openStoryteller>;

export interface StoryOptions {
  /** Whether merchants send the fields that release 1.0.0 refuses; by default they do. */
  readonly sendsNewFields?: boolean;
  /** Whether each story is a hold that is renewed again and again. */
  readonly renewsOnly?: boolean;
  /** Whether issuers ask some of the customers; by default they do not. */
  readonly asksCustomers?: boolean;
}

/** Starts stories about the merchants, drawn from `random`, at a steady pace. */
export function openStoryteller(
  opened: Client,
  merchants: readonly Merchant[],
  random: () => number,
  { sendsNewFields = true, renewsOnly = false, asksCustomers = false }: StoryOptions = {},
) {
  const client = sendsNewFields
    ? opened
    : { ...opened, want: (each: Intention, patienceMs?: number) => opened.want(withoutNewFields(each), patienceMs) };
  let serial = 0;
  const among = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;

  function drawLife(): Life {
    const drawn = random() * 100;
    if (!sendsNewFields || renewsOnly) return 'plain';
    if (drawn < LIVES.kept.share) return 'kept';
    return asksCustomers && drawn < LIVES.kept.share + LIVES.asked.share ? 'asked' : 'plain';
  }

  /** Drawn at once, so that the plan does not depend on what the service does meanwhile. */
  function draw(token?: Token, merchant = among(merchants)) {
    const life = token === undefined ? drawLife() : 'plain';
    const parts = merchant.severalCaptures ? 1 + Math.floor(random() * 4) : 0;
    return {
      userId: `u${++serial}`,
      life,
      token: life === 'plain' ? (token ?? drawToken(random)) : among<string>(LIVES[life].tokens),
      merchant,
      // No two captures of a hold have the same amount, so the ledger tells them apart.
      parts: Array.from({ length: parts }, (_, part) => 100 + 10 * part + Math.floor(random() * 10)),
      changes: CHANGES.filter((kind) => random() < 0.3 && (kind !== 'part' || sendsNewFields)),
      // Alone, nothing but its renewal could be in the way of what is done with a kept hold.
      isTogether: random() < 0.5 && life !== 'kept',
      last: random(),
      refunds: Math.floor(random() * 4),
      // What is done with a hold says its currency, or does not; now and then another one, by mistake.
      said: random() < 0.5 ? { currency: 'EUR' } : {},
      isMistaken: random() < 0.2 && sendsNewFields,
    };
  }

  async function tell(drawn: ReturnType<typeof draw>, beforeCaptures?: (requestId: string) => Promise<void>) {
    const { life } = drawn;
    const hold = holdOf(drawn.merchant, drawn.userId, `tok_sandbox_${drawn.token}`);
    const body = life === 'plain' ? hold.body : { ...hold.body, ...LIVES[life].says() };
    const placed = await (life === 'asked'
      ? client.wantAuthenticated({ ...hold, kind: 'step-up', body }, drawn.last < 0.8 ? 'pass' : 'fail')
      : client.want({ ...hold, body }));
    if (placed.outcome !== 'done') return;
    const handle = await client.handleOf(placed);
    if (handle === '') return;
    await beforeCaptures?.(placed.requestId ?? '');
    if (life === 'kept') await delay(RENEWED_AFTER_MS);
    const { merchant, userId, last, parts, changes, said } = drawn;
    const want = (kind: Kind, amount: number, body: object) =>
      intentionOf(kind, merchant, userId, amount, { preauthorizationId: handle, ...said, ...body });
    const capture = (amount: number, finalCapture?: boolean) =>
      captureOf(merchant, userId, handle, amount, finalCapture, said);
    const release = want('release', HOLD, {});
    const change = (kind: (typeof CHANGES)[number]) => {
      if (kind === 'increment') return want(kind, HOLD, { amountToAdd: 200 });
      if (kind === 'part') return want(kind, HOLD, { amountToRelease: 100 });
      return intentionOf(kind, merchant, userId, HOLD, { preauthorizationId: handle });
    };
    if (drawn.isMistaken) await client.want(mistaken(capture(MISTAKEN)));
    const told = await wantAll([...changes.map(change), ...parts.map((amount) => capture(amount))], drawn.isTogether);
    if (!merchant.severalCaptures || last < 0.4) {
      told.push(await client.want(capture(500 + Math.floor(last * 100), merchant.severalCaptures || undefined)));
    } else if (last < 0.65) await client.want(release);
    else if (last < 0.85) await client.wantRenewed(want('renewal', RENEWED, { amount: RENEWED }), release);
    const captures = told.filter(({ kind, outcome }) => kind === 'capture' && outcome === 'done');
    // The refunds of a hold have different amounts.
    const refunds = captures
      .slice(0, drawn.refunds)
      .flatMap(({ requestId: captureRequestId }, index) =>
        [10 + index, 20 + index].map((amount) =>
          intentionOf('refund', merchant, userId, amount, { captureRequestId, amount, ...said }),
        ),
      );
    const [first] = captures;
    if (drawn.isMistaken && first) {
      const body = { captureRequestId: first.requestId, amount: MISTAKEN };
      await client.want(mistaken(intentionOf('refund', merchant, userId, MISTAKEN, body)));
    }
    await wantAll(refunds, drawn.isTogether);
  }

  /** A hold that is renewed again and again, each time for less; now and then a part of it is captured before. */
  async function tellRenewals({ token, merchant, userId, parts, last }: ReturnType<typeof draw>): Promise<void> {
    let [amount, held] = [HOLD, await client.want(holdOf(merchant, userId, `tok_sandbox_${token}`))];
    for (let turn = 0; held.outcome === 'done' && turn < 2 + 6 * last; turn++) {
      const preauthorizationId = await client.handleOf(held);
      if (preauthorizationId === '') return;
      const part = turn % 2 === 0 ? undefined : parts[turn];
      if (part !== undefined) await client.want(captureOf(merchant, userId, preauthorizationId, part));
      const release = intentionOf('release', merchant, userId, amount, { preauthorizationId });
      amount -= LESS_EACH_TIME;
      const body = { preauthorizationId, amount };
      held = await client.wantRenewed(intentionOf('renewal', merchant, userId, amount, body), release);
    }
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
          const begin = renewsOnly ? tellRenewals(draw()) : random() < 0.15 ? payOut() : tell(draw());
          const one = begin.finally(() => telling.delete(one));
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
    await client.want(intentionOf('oct', merchant, userId, 700, cardOf(userId, `tok_sandbox_${token}`, 700)));
  }
}

/** What a hold is for, and what one that renews it is for. */
const HOLD = 1_500;
const RENEWED = 1_400;
const LESS_EACH_TIME = 100;
/** What nobody wants otherwise. */
const MISTAKEN = 99;

const CHANGES = ['increment', 'part', 'extension'] as const;

/** Where each kind is sent, and what the processor's ledger calls it. */
const KINDS: Readonly<Record<Kind, readonly [path: string, entry: string]>> = {
  hold: ['/preauthorization', 'authorization'],
  'step-up': ['/preauthorization', 'authorization'],
  capture: ['/preauthorization/authorization', 'capture'],
  release: ['/preauthorization/release', 'void'],
  part: ['/preauthorization/release', 'decrease'],
  increment: ['/preauthorization/increment', 'increment'],
  extension: ['/preauthorization/extend', 'extension'],
  renewal: ['/preauthorization/renew', 'authorization'],
  refund: ['/refund', 'refund'],
  oct: ['/oct', 'credit'],
};

/** The kinds that a merchant can have a reference for, and whose answers name them. */
const REFERRED: ReadonlySet<Kind> = new Set(['capture', 'increment', 'refund', 'oct']);

/** What is done with a hold, without its currency and a reference of its own. */
function withoutNewFields(intention: Intention): Intention {
  const { currency: _, merchantReference: __, ...body } = intention.body as Record<string, unknown>;
  return 'preauthorizationId' in body || 'captureRequestId' in body
    ? { ...intention, body, reference: undefined }
    : intention;
}

/** The same in another currency than the hold's: it must be refused, and nothing be done. */
function mistaken(intention: Intention): Intention {
  return { ...intention, body: { ...intention.body, currency: 'JPY' }, refusedAs: 'INVALID_REQUEST' };
}

/** `amount` is the one by which the ledger tells it from others of the user. */
function intentionOf(kind: Kind, merchant: Merchant, userId: string, amount: number, body: object): Intention {
  const [path, entry] = KINDS[kind];
  const mark = `${entry} ${userId} ${amount}`;
  if (!REFERRED.has(kind)) return { kind, merchant, path, body, mark };
  return { kind, merchant, path, body: { ...body, merchantReference: mark }, mark, reference: mark };
}

/** A hold that the user's name identifies. */
export function holdOf(merchant: Merchant, userId: string, tokenId: string, amount = HOLD): Intention {
  return intentionOf('hold', merchant, userId, amount, cardOf(userId, tokenId, amount));
}

export function captureOf(
  merchant: Merchant,
  userId: string,
  preauthorizationId: string,
  amountToCapture: number,
  finalCapture?: boolean,
  said: object = {},
): Intention {
  const body = { preauthorizationId, amountToCapture, finalCapture, ...said };
  return intentionOf('capture', merchant, userId, amountToCapture, body);
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
