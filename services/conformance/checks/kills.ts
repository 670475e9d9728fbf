import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Check, needs, type Skip } from '../check.ts';
import { isSupported, KINDS } from '../kinds.ts';
import type { Kit } from '../kit.ts';
import { capture } from '../requests.ts';

const OF_EACH_KIND = 4;
/** By then a fast adapter has answered all, and a slow one a few. */
const LONGEST_LIFE_MS = 60;

/** kill -9: what was answered stands, what was not is found out, and what was due still happens. */
export const KILLS: readonly Check[] = [
  killing('at any moment, nothing answered is lost and nothing is done twice', canKill, async (kit) => {
    for (let round = 0; round < kit.run.kills; round += 1) await killOnce(kit);
  }),
  killing('the identity of its books stays', canKill, async (kit) => {
    await restart(kit);
    const { identity } = await kit.client.describe({});
    // Core calls nothing at an address where another one answers.
    assert.equal(identity, kit.description.identity, 'the identity of Describe after a restart');
  }),
  killing('an event that was due still comes', canKillWith('reversed'), async (kit) => {
    const { capture } = await kit.captured(kit.profile.tokens.reversed);
    await restart(kit);
    await kit.reported('captureReversed', capture.requestId);
  }),
  killing('an event that was refused comes again under its event_id', canKillWith('reversed'), async (kit) => {
    const of = capture(await kit.placed(kit.profile.tokens.reversed), kit.tenth);
    kit.inbox.refuse('captureReversed', of.requestId, [status.UNAVAILABLE]);
    await kit.approved(of);
    const refused = await kit.reported('captureReversed', of.requestId, false);
    await restart(kit);
    // Under another one it would be another reversal.
    const { eventId } = await kit.reported('captureReversed', of.requestId);
    assert.equal(eventId, refused.eventId, 'the event_id after a restart');
  }),
  killing('a result that was due still comes', canKillWith('capture', 'accepted'), async (kit) => {
    const request = capture(await kit.placed(kit.profile.tokens.capture.accepted), kit.tenth);
    kit.inbox.refuse('operationSettled', request.requestId, [status.UNAVAILABLE]);
    await kit.send(request);
    await restart(kit);
    await kit.reported('operationSettled', request.requestId);
  }),
];

function killing(name: string, skip: NonNullable<Check['skip']>, run: Check['run']): Check {
  return { name: `kill -9: ${name}`, skip, run, when: 'alone' };
}

export function canKill({ run: { process } }: Kit): Skip | undefined {
  return process ? undefined : { why: 'the profile names no process' };
}

function canKillWith(...token: Parameters<typeof needs>) {
  return (kit: Kit) => canKill(kit) ?? needs(...token)(kit);
}

async function killOnce(kit: Kit): Promise<void> {
  const kinds = KINDS.filter((kind) => isSupported(kind, kit));
  const all = kinds.flatMap((kind) => Array.from({ length: OF_EACH_KIND }, () => kind.prepare(kit)));
  const requests = await Promise.all(all);
  const before = [...kit.memory.answered.values()].slice(-requests.length);
  const calls = requests.map((request) => kit.askOnce(request).catch(() => undefined));
  await sleep(randomInt(LONGEST_LIFE_MS));
  await restart(kit);
  const answers = await Promise.all(calls);
  for (const [index, request] of requests.entries()) await kit.demandSettled(request, answers[index]);
  for (const { request, result } of before) {
    if (result.answer === Answer.ACCEPTED) continue;
    assert.deepEqual(await kit.send(request), result, `the answer to a ${request.method} of before`);
  }
  for (const request of requests) await kit.demandBooks(request);
}

/** Kills the adapter and starts it again. */
export async function restart(kit: Kit): Promise<void> {
  await kit.run.process?.kill();
  await kit.run.process?.start();
}
