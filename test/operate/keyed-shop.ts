/** A merchant that uses several gateways in turn, and repeats a keyed request until it has its final answer. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** A gateway's answer; status 0 = the connection broke. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, string>>;
  /** The remaining rate limit of the API key. */
  readonly remaining: number;
}

/** The outcomes of the keyed requests. */
export interface Tally {
  holds: number;
  captures: number;
  /** Confirmed by inquiry as never sent to the processor: also a final answer. */
  neverDone: number;
  /** How many were repeated, by cause. */
  readonly repeated: Record<string, number>;
  /** Those without a final answer, or with an unexpected one, such as 500, which is a bug of ours. */
  readonly lost: string[];
}

export class KeyedShop {
  readonly tally: Tally = { holds: 0, captures: 0, neverDone: 0, repeated: {}, lost: [] };
  readonly #origins: readonly string[];
  readonly #apiKey: string;
  #turn = 0;

  constructor({ origins, apiKey }: { readonly origins: readonly string[]; readonly apiKey: string }) {
    this.#origins = origins;
    this.#apiKey = apiKey;
  }

  /** Places a hold and captures part of it. */
  async sell(): Promise<void> {
    const hold = { amount: 500, currency: 'EUR', terminalId: 'T1', userId: 'u', tokenId: 'tok_sandbox_ok' };
    const placed = await this.#keyed('/preauthorization', hold, 201);
    if (placed === undefined) return;
    this.tally.holds++;
    const capture = { preauthorizationId: placed.preauthorizationId, amountToCapture: 200 };
    if (await this.#keyed('/preauthorization/authorization', capture, 200)) this.tally.captures++;
  }

  /** Sends once, to the next gateway or to a given one. */
  async send(
    path: string,
    body?: object,
    options: { origin?: string; key?: string; apiKey?: string } = {},
  ): Promise<Answer> {
    const { origin = this.#origins[this.#turn++ % this.#origins.length], key, apiKey = this.#apiKey } = options;
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
    };
    const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
    try {
      const response = await fetch(`${origin}${path}`, init);
      const remaining = Number(response.headers.get('ratelimit-remaining'));
      return { status: response.status, body: (await response.json()) as Answer['body'], remaining };
    } catch (error) {
      const { code = (error as Error).message } = ((error as Error).cause ?? error) as { code?: string };
      return { status: 0, body: { code }, remaining: 0 };
    }
  }

  async #keyed(path: string, body: object, expected: number): Promise<Answer['body'] | undefined> {
    const key = randomUUID();
    const untilMs = Date.now() + PATIENCE_MS;
    for (;;) {
      const answer = await this.send(path, body, { key });
      if (answer.status === expected) return answer.body;
      if (answer.status === 502 && answer.body.processorCode === 'never_received') {
        this.tally.neverDone++;
        return undefined;
      }
      const why = `${answer.status} ${answer.body.code ?? ''}`.trim();
      const isOpen = answer.status > 500 || OPEN.has(answer.status);
      if (!isOpen || Date.now() > untilMs) {
        this.tally.lost.push(`${path}: ${why}`);
        return undefined;
      }
      this.tally.repeated[why] = (this.tally.repeated[why] ?? 0) + 1;
      await delay(AGAIN_MS);
    }
  }
}

/** Not final: a broken connection, an unknown outcome, a request in progress, a rate limit. */
const OPEN: ReadonlySet<number> = new Set([0, 202, 409, 429]);
const AGAIN_MS = 100;
const PATIENCE_MS = 30_000;
