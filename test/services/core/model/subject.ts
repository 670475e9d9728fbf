/** A hold or OCT that is played: what it may be, and what was sent and answered about it. */
import assert from 'node:assert/strict';
import type { HoldModel } from './hold-model.ts';
import type { Sent } from './predict.ts';
import type { World } from './world.ts';

/** A hold or OCT that a run asked for. */
export interface Subject {
  readonly key: string;
  readonly userId: string;
  readonly merchantId: string;
  /** All that it may be; what was answered has ruled out the rest. */
  possible: HoldModel[];
  /** What was sent about it, for repetitions. */
  readonly sent: Sent[];
  /** Every answer, for the story of a failure. */
  readonly story: string[];
  /** A late authorization that nobody has told core of yet. */
  untold: boolean;
  requestId: string;
  /** What the processor calls it. */
  identifier: string;
  /** Has the processor tell core what it did for this hold. */
  tellTruth(): Promise<void>;
  /** Ends the wave with the story. */
  fail(why: string): never;
}

/** Ends the wave with the story of the subject. */
export function fail(subject: Subject, why: string): never {
  const models = JSON.stringify(subject.possible);
  assert.fail(`${why}\n${subject.merchantId} ${subject.requestId}\n${subject.story.join('\n')}\nmodel: ${models}`);
}

/** The identifiers, ours and the processor's, of what is stored under a key. */
export async function named(
  world: World,
  subject: Subject,
  key: string,
): Promise<{ request_id: string; identifier: string }> {
  const [row] = await world.sql<{ request_id: string; identifier: string }>(NAMED, [subject.merchantId, key]);
  return row ?? fail(subject, `nothing is stored under ${key}`);
}

const NAMED = `select k.request_id, coalesce(s.processor_request_id, k.request_id) as identifier from idempotency_key k join (
    ${['hold', 'capture', 'release', 'oct'].map((table) => `select request_id, processor_request_id from ${table}`).join(' union all ')}
  ) s on s.request_id = k.request_id where k.merchant_id = $1 and k.key = $2`;

/** Leaves out possible worlds that are the same. */
export function distinct(holds: readonly HoldModel[]): HoldModel[] {
  return [...new Map(holds.map((hold) => [JSON.stringify(hold), hold])).values()];
}
