/** Sells with Idempotency-Keys through all gateways of a fleet while it is changed, and counts what became of it. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry } from '../../services/sandbox/ledger/entry.ts';
import type { Fleet } from './fleet.ts';
import { ended, KeyedShop, type Tally } from './keyed-shop.ts';

interface Counts {
  readonly holds: number;
  readonly captures: number;
}

/** What was sold. Answers, database and ledger must agree, or something was done twice. */
export interface Sold {
  readonly tally: Tally;
  readonly stored: Counts;
  readonly atProcessor: Counts;
}

/** A sale under way. */
export interface Sale {
  readonly tally: Tally;
  /** Waits until as many requests more as there are callers have their final answer. Throws when one was lost. */
  untilAnswered(): Promise<void>;
}

/** Sells until `change` is done, and every request has its final answer. */
export async function sellWhile(fleet: Fleet, callers: number, change: (sale: Sale) => Promise<void>): Promise<Sold> {
  const shop = new KeyedShop(fleet);
  const { tally } = shop;
  let selling = true;
  const running = Array.from({ length: callers }, async () => {
    while (selling) await shop.sell();
  });
  const untilAnswered = async () => {
    const goal = ended(tally) + callers;
    while (ended(tally) < goal) await delay(10);
    assert.deepEqual(tally.lost, []);
  };
  try {
    await change({ tally, untilAnswered });
  } finally {
    selling = false;
    await Promise.all(running);
  }
  const processed = fleet
    .oracle()
    .entries()
    .filter(({ answer }) => answer === Answer.APPROVED);
  const of = (kind: Entry['kind']) => processed.filter((entry) => entry.kind === kind).length;
  return { tally, stored: await stored(fleet), atProcessor: { holds: of('authorization'), captures: of('capture') } };
}

/** Asserts that every request was answered as done, and was done once. */
export function assertDoneOnce({ tally, stored, atProcessor }: Sold): void {
  const { holds, captures, neverDone, lost } = tally;
  assert.deepEqual([lost, neverDone], [[], 0]);
  assert.deepEqual(stored, { holds, captures });
  assert.deepEqual(atProcessor, { holds, captures });
}

async function stored({ databaseUrl }: Fleet): Promise<Counts> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(`select (select count(*)::int from hold where phase = 'AUTHORIZED') as holds,
      (select count(*)::int from submission where kind = 'CAPTURE' and state = 'OK') as captures`);
    return rows[0];
  } finally {
    await client.end();
  }
}
