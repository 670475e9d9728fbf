import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { demandBooks } from '../books.ts';
import { type Check, needs } from '../check.ts';
import { KINDS } from '../kinds.ts';
import { ask, capture, captured, type Kit, placed, reported, send, tenth } from '../kit.ts';
import { demandSettled } from './identifiers.ts';

const OF_EACH_KIND = 4;
/** By then a fast adapter has answered all, and a slow one a few. */
const LONGEST_LIFE_MS = 60;

/** kill -9: what was answered stands, what was not is found out, and what was due still happens. */
export const KILLS: readonly Check[] = [
  killing('at any moment, nothing answered is lost and nothing is done twice', canKill, async (kit) => {
    for (let round = 0; round < kit.kills; round += 1) await killOnce(kit);
  }),
  killing('an event that was due still comes', canKillWith('reversed'), async (kit) => {
    const { capture } = await captured(kit, kit.profile.tokens.reversed);
    await restart(kit);
    await reported(kit, 'captureReversed', capture.requestId);
  }),
  killing('a result that was due still comes', canKillWith('capture', 'accepted'), async (kit) => {
    const request = capture(await placed(kit, kit.profile.tokens.capture.accepted), tenth(kit));
    kit.inbox.refuse('operationSettled', request.requestId, 1);
    await send(kit, 'capture', request);
    await restart(kit);
    await reported(kit, 'operationSettled', request.requestId);
  }),
];

function killing(name: string, skip: NonNullable<Check['skip']>, run: Check['run']): Check {
  return { name: `kill -9: ${name}`, skip, run, when: 'alone' };
}

function canKill({ process }: Kit): string | undefined {
  return process ? undefined : 'the profile names no process';
}

function canKillWith(...token: Parameters<typeof needs>) {
  return (kit: Kit) => canKill(kit) ?? needs(...token)(kit);
}

async function killOnce(kit: Kit): Promise<void> {
  const kinds = KINDS.filter((kind) => kind.isSupported(kit.description));
  const all = kinds.flatMap((kind) => Array.from({ length: OF_EACH_KIND }, () => kind));
  const requests = await Promise.all(all.map(async (kind) => ({ kind, request: await kind.prepare(kit) })));
  const before = [...kit.answered.values()].slice(-requests.length);
  const calls = requests.map(({ kind, request }) => ask(kit, kind.method, request).catch(() => undefined));
  await sleep(randomInt(LONGEST_LIFE_MS));
  await restart(kit);
  const answers = await Promise.all(calls);
  for (const [index, { kind, request }] of requests.entries()) {
    await demandSettled(kit, kind.method, request, answers[index]);
  }
  for (const { method, request, result } of before) {
    if (result.answer === Answer.ACCEPTED) continue;
    assert.deepEqual(await send(kit, method, request), result, `the answer to a ${method} of before`);
  }
  for (const { request } of requests) await demandBooks(kit, request);
}

async function restart(kit: Kit): Promise<void> {
  await kit.process?.kill();
  await kit.process?.start();
}
