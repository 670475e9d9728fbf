/**
 * Restarts two cores and two gateways one by one under load, again and again, and counts what became of every keyed request.
 *   npx node test/operate/rolling-restart.ts [rounds, 20 by default]
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry } from '../../services/sandbox/ledger/entry.ts';
import { type Fleet, openFleet } from './fleet.ts';

interface Counts {
  readonly holds: number;
  readonly captures: number;
}

/** What a run saw. A lost request is one without a final answer, or with another one than its first. */
export interface Tally {
  readonly restarts: number;
  readonly requests: number;
  /** Requests that had to be sent more than once, by why. */
  readonly repeated: Readonly<Record<string, number>>;
  readonly lost: readonly string[];
  /** What was answered, what is in the database and what the processor did: the same, or something was done twice. */
  readonly answered: Counts;
  readonly stored: Counts;
  readonly atProcessor: Counts;
}

/** Runs it: `rounds` times each of the four processes is stopped and started. */
export async function rollingRestart(
  rounds: number,
  callers = 8,
  say: (line: string) => void = () => {},
): Promise<Tally> {
  const fleet = await openFleet({ cores: 2, gateways: 2, environment: { LOG_LEVEL: 'warn' } });
  try {
    const load = new Load(fleet);
    const running = Array.from({ length: callers }, () => load.run());
    let restarts = 0;
    for (let round = 1; round <= rounds; round++) {
      for (const member of [...fleet.cores, ...fleet.gateways]) {
        const before = load.requests;
        const repeated = { ...load.repeated };
        const startedMs = performance.now();
        await member.stop();
        const stoppedMs = performance.now();
        await member.start();
        restarts++;
        const times = `stopped in ${(stoppedMs - startedMs).toFixed(0)} ms, back after ${(performance.now() - startedMs).toFixed(0)} ms`;
        const again = Object.entries(load.repeated).map(([why, count]) => `${why} ${count - (repeated[why] ?? 0)}`);
        const answered = `${load.requests - before} requests answered meanwhile, repeated: ${again.join(', ') || 'none'}`;
        say(`round ${round}: ${member.name} ${times}; ${answered}`);
        await load.comesOn(callers);
      }
    }
    load.stop();
    await Promise.all(running);
    const { requests, repeated, lost, answered } = load;
    const processed = fleet.oracle.entries().filter(({ answer }) => answer === Answer.APPROVED);
    const of = (kind: Entry['kind']) => processed.filter((entry) => entry.kind === kind).length;
    const atProcessor = { holds: of('authorization'), captures: of('capture') };
    return { restarts, requests, repeated, lost, answered, stored: await stored(fleet), atProcessor };
  } finally {
    await fleet.close();
  }
}

/** Merchants who hold and capture, each request with a key, repeating until they have an answer. */
class Load {
  requests = 0;
  readonly answered = { holds: 0, captures: 0 };
  readonly repeated: Record<string, number> = {};
  readonly lost: string[] = [];
  readonly #fleet: Fleet;
  #stopping = false;
  #turn = 0;
  #waiting: { at: number; resolve: () => void }[] = [];

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  async run(): Promise<void> {
    const hold = { amount: 500, currency: 'EUR', terminalId: 'T1', userId: 'u', tokenId: 'tok_sandbox_ok' };
    while (!this.#stopping) {
      const { preauthorizationId } = (await this.#ask('/preauthorization', hold, 201)) ?? {};
      if (preauthorizationId === undefined) continue;
      this.answered.holds++;
      const capture = { preauthorizationId, amountToCapture: 200 };
      if (await this.#ask('/preauthorization/authorization', capture, 200)) this.answered.captures++;
    }
  }

  /** Settles when so many more requests have been answered. */
  comesOn(more: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ at: this.requests + more, resolve }));
  }

  stop(): void {
    this.#stopping = true;
  }

  async #ask(path: string, body: object, expected: number): Promise<Record<string, string> | undefined> {
    const key = randomUUID();
    const untilMs = Date.now() + PATIENCE_MS;
    let last = '';
    for (let attempt = 0; Date.now() < untilMs; attempt++) {
      if (attempt > 0) await delay(Math.min(50 * attempt, 500));
      const { status, why, answer } = await this.#send(path, body, key);
      if (status === expected) {
        this.#count();
        return answer;
      }
      last = why;
      // 202: the outcome is not known yet; the same key answers it once it is.
      if (status !== 0 && status !== 202 && status !== 409 && status < 500) break;
      this.repeated[why] = (this.repeated[why] ?? 0) + 1;
    }
    this.#count();
    this.lost.push(`${path}: ${last}`);
    return undefined;
  }

  #count(): void {
    this.requests++;
    for (const { resolve } of this.#waiting.filter(({ at }) => at <= this.requests)) resolve();
    this.#waiting = this.#waiting.filter(({ at }) => at > this.requests);
  }

  async #send(path: string, body: object, key: string) {
    const { origins, apiKey } = this.#fleet;
    const origin = origins[this.#turn++ % origins.length];
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'idempotency-key': key };
    try {
      const response = await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      const answer = (await response.json()) as Record<string, string>;
      return { status: response.status, why: `${response.status} ${answer.code ?? ''}`.trim(), answer };
    } catch (error) {
      const { code } = ((error as Error).cause ?? error) as { code?: string };
      return { status: 0, why: code ?? (error as Error).message, answer: undefined };
    }
  }
}

const PATIENCE_MS = 30_000;

async function stored({ databaseUrl }: Fleet): Promise<Counts> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(`select (select count(*)::int from hold where phase = 'AUTHORIZED') as holds,
      (select count(*)::int from capture where state = 'OK') as captures`);
    return rows[0];
  } finally {
    await client.end();
  }
}

if (import.meta.main) {
  const { mochaGlobalSetup, mochaGlobalTeardown } = await import('../setup.ts');
  await mochaGlobalSetup();
  try {
    const tally = await rollingRestart(Number(process.argv[2] ?? 20), 16, (line) => process.stdout.write(`${line}\n`));
    process.stdout.write(`${JSON.stringify(tally, null, 2)}\n`);
    assert.deepEqual(tally.lost, []);
  } finally {
    await mochaGlobalTeardown();
  }
}
