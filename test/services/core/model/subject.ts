/** A hold or OCT in play: its possible states, and what was sent and answered about it. */

import assert from 'node:assert/strict';
import { storedKey } from '../stored-key.ts';
import type { HoldModel } from './hold-model.ts';
import type { Sent } from './sent.ts';
import type { World } from './world.ts';

/** A hold or OCT that a run requested. */
export interface Subject {
  readonly key: string;
  readonly userId: string;
  readonly merchantId: string;
  /** Its possible states; answers have ruled out the others. */
  possible: HoldModel[];
  /** The commands about it, for repetitions. */
  readonly sent: Sent[];
  /** Every answer, for the story of a failure. */
  readonly story: string[];
  /** A late authorization that has not been reported to core yet. */
  untold: boolean;
  /** The renewals that were reported to core. */
  readonly told: Set<string>;
  /** The hold that renews it. */
  renewal?: Subject;
  requestId: string;
  /** The processor's identifier of it. */
  identifier: string;
  /** Makes the processor report its results for this hold to core. */
  tellTruth(): Promise<void>;
  /** Fails the wave with the story. */
  fail(why: string): never;
}

/** Fails the wave with the story of the subject. */
export function fail(subject: Subject, why: string): never {
  const models = JSON.stringify(subject.possible);
  assert.fail(`${why}\n${subject.merchantId} ${subject.requestId}\n${subject.story.join('\n')}\nmodel: ${models}`);
}

/** Returns our and the processor's identifiers of what is stored under a key. */
export async function named(
  world: World,
  subject: Subject,
  key: string,
): Promise<{ requestId: string; identifier: string }> {
  const [row] = await world.sql<{ requestId: string; identifier: string }>(NAMED, [storedKey(subject.merchantId, key)]);
  return row ?? fail(subject, `nothing is stored under ${key}`);
}

const NAMED = `select k.request_id, coalesce(s.processor_request_id, k.request_id) as identifier from claim k join (
    select request_id, processor_request_id from hold union all select request_id, processor_request_id from submission
  ) s on s.request_id = k.request_id where k.key = $1`;

/** Returns the processor's identifiers of a hold's renewals, oldest first. */
export async function renewalsOf(world: World, { requestId }: Pick<Subject, 'requestId'>): Promise<string[]> {
  return (await world.sql<{ identifier: string }>(RENEWALS, [requestId])).map(({ identifier }) => identifier);
}

const RENEWALS = `select coalesce(processor_request_id, request_id) as identifier from submission
    where hold_request_id = $1 and kind = 'RENEWAL' order by request_id`;

/** Removes duplicate states. */
export function distinct(holds: readonly HoldModel[]): HoldModel[] {
  return [...new Map(holds.map((hold) => [JSON.stringify(hold), hold])).values()];
}

/** Where the placing of a hold may stand. */
export function placingsOf(subject: Subject | undefined): HoldModel['placing'][] {
  return [...new Set(subject?.possible.map(({ placing }) => placing) ?? ['OPEN' as const])];
}
