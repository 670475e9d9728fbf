/**
 * Merchants who place holds, capture them, release some, let some end, open checkouts of which customers pay some, and
 * pay out, most with keys, and record every answer.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { pay } from '../../services/sandbox/checkout/browse.ts';
import type { Deployment, Merchant } from '../../torture/deployment/deployment.ts';
import { type Caller, type Heard, openCaller } from './caller.ts';
import type { ResultWatcher } from './result-watcher.ts';

/** One request of a merchant, and its final answer. */
export interface Deed {
  readonly kind: 'hold' | 'capture' | 'release' | 'oct' | 'checkout';
  readonly merchant: Merchant;
  readonly key: string | undefined;
  readonly path: string;
  readonly body: object;
  /** Of the answer 200 or 201. */
  requestId?: string;
}

/** The deeds for one customer, in order. */
export interface Story {
  readonly userId: string;
  readonly deeds: Deed[];
  handle: string;
  /** Its hold is to end by itself soon. */
  readonly ends: boolean;
}

/** A round: what was done before the database went back, and while it did. */
export interface Round {
  /** The processor of all merchants before, and after. */
  readonly here: Processor;
  readonly there: Processor;
  readonly stories: readonly Story[];
  readonly watchers: readonly ResultWatcher[];
  /** The identifiers in the processors' books before anything was lost. */
  readonly before: ReadonlySet<string>;
}
type Processor = 'sandbox' | 'other';

export type Customers = ReturnType<typeof openCustomers>;

/** Opens merchants whose traffic each way back starts and stops. */
export function openCustomers({ baseUrl, merchants }: Deployment) {
  const caller = openCaller(baseUrl);
  return {
    caller,
    merchants: [...merchants.values()],
    round: undefined as Round | undefined,
    stop: async () => undefined,
    close: () => caller.close(),
  };
}

export type Traffic = ReturnType<typeof startTraffic>;

const LANES = 12;
/** How long a hold is kept, and when its first authorization has been renewed. */
const KEPT_MS = 20_000;
const RENEWED_AFTER_MS = 1_600;
const AGAIN_MS = 250;
const MOST_TRIES = 240;

let serial = 0;

/** Starts merchants who work independently. */
export function startTraffic(caller: Caller, merchants: readonly Merchant[], random: () => number) {
  const stories: Story[] = [];
  let stopped = false;
  const tell = async (): Promise<void> => {
    const merchant = merchants[Math.floor(random() * merchants.length)] as Merchant;
    const [isKeyed, what] = [random() < 0.75, random()];
    const story: Story = { userId: `r${++serial}`, deeds: [], handle: '', ends: what >= 0.3 && what < 0.4 };
    stories.push(story);
    const deed = (kind: Deed['kind'], path: string, body: object) =>
      act(caller, story, { kind, merchant, key: isKeyed ? randomUUID() : undefined, path, body });
    const card = { tokenId: 'tok_sandbox_ok', amount: 1_500, currency: 'EUR', terminalId: 'T1', userId: story.userId };
    if (what < 0.15) return void (await deed('oct', '/oct', card));
    if (what < 0.3) {
      const { tokenId: _, ...body } = card;
      const { checkoutUrl } = (await deed('checkout', '/preauthorization', body)) ?? {};
      await delay(random() * 4_000);
      // The customer whose page is down pays nothing.
      if (checkoutUrl && random() < 0.6) await pay(checkoutUrl).catch(() => undefined);
      return;
    }
    const isKept = what >= 0.85;
    const kept = { tokenId: 'tok_sandbox_guarantee_short', keepUntil: new Date(Date.now() + KEPT_MS).toISOString() };
    const { preauthorizationId = '' } =
      (await deed('hold', '/preauthorization', { ...card, ...(isKept && kept) })) ?? {};
    story.handle = preauthorizationId;
    if (preauthorizationId === '' || what < 0.45) return;
    await delay(isKept ? RENEWED_AFTER_MS : random() * 400);
    if (what < 0.55) return void (await deed('release', '/preauthorization/release', { preauthorizationId }));
    const capture = (amountToCapture: number) =>
      deed('capture', '/preauthorization/authorization', { preauthorizationId, amountToCapture });
    await capture(600);
    if (merchant.severalCaptures && (what < 0.8 || isKept)) await capture(400);
  };
  const lanes = Array.from({ length: LANES }, async () => {
    while (!stopped) {
      await tell();
      await delay(random() * 100);
    }
  });
  return {
    stories: stories as readonly Story[],
    /** How many deeds are under way at once, at most. */
    lanes: LANES,
    /** Ends it. A call with a key and without an answer is repeated until it has one. */
    async stop(): Promise<void> {
      stopped = true;
      await Promise.all(lanes);
    },
  };
}

interface Told {
  readonly preauthorizationId?: string;
  readonly checkoutUrl?: string;
}

/** Sends a deed. Resolves with the body of a success. */
async function act(caller: Caller, story: Story, deed: Deed): Promise<Told | undefined> {
  story.deeds.push(deed);
  const { status, body } = await untilAnswered(caller, deed, deed.body);
  if (status !== 200 && status !== 201) return undefined;
  deed.requestId = body.requestId;
  return body;
}

/**
 * Repeats a call under its key until it has a final answer, or until it is to be repeated much later; one without a key
 * is sent once.
 */
export async function untilAnswered(caller: Caller, { merchant, path, key }: Deed, body: object): Promise<Heard> {
  for (let tries = 1; ; tries++) {
    const heard = await caller.send({ apiKey: merchant.apiKey, path, body, key });
    const isOpen =
      [0, 202, 401, 408, 429, 500, 503].includes(heard.status) || heard.body.code === 'IDEMPOTENCY_IN_FLIGHT';
    if (!isOpen || heard.body.code === 'RECONCILING' || key === undefined || tries === MOST_TRIES) return heard;
    await delay(AGAIN_MS);
  }
}
