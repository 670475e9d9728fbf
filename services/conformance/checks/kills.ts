import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { addUp, listAll } from '../books.ts';
import type { Check } from '../check.ts';
import { KINDS } from '../kinds.ts';
import { ask, capture, captured, type Kit, placed, send, tenth } from '../kit.ts';
import { demandSettled } from './identifiers.ts';

const canKill = ({ process }: Kit) => (process ? undefined : 'the profile names no process');
const OF_EACH_KIND = 4;
/** By then a fast adapter has answered all, and a slow one a few. */
const LONGEST_LIFE_MS = 60;

/** kill -9: what was answered stands, what was not is found out, and what was due still happens. */
export const KILLS: readonly Check[] = [
  {
    name: 'kill -9: at any moment, nothing answered is lost and nothing is done twice',
    when: 'alone',
    skip: canKill,
    async run(kit) {
      for (let round = 0; round < kit.kills; round += 1) await killOnce(kit);
    },
  },
  {
    name: 'kill -9: an event that was due still comes',
    when: 'alone',
    skip: (kit) =>
      canKill(kit) ?? (kit.profile.tokens.reversed ? undefined : 'the profile names no token tokens.reversed'),
    async run(kit) {
      const { capture } = await captured(kit, kit.profile.tokens.reversed);
      await restart(kit);
      const report = await kit.inbox.taken('captureReversed', capture.requestId, kit.profile.eventWithinMs);
      assert(report, `no event CaptureReversed within ${kit.profile.eventWithinMs} ms of the restart`);
    },
  },
  {
    name: 'kill -9: a result that was due still comes',
    when: 'alone',
    skip: (kit) =>
      canKill(kit) ??
      (kit.profile.tokens.capture.accepted ? undefined : 'the profile names no token tokens.capture.accepted'),
    async run(kit) {
      const request = capture(await placed(kit, kit.profile.tokens.capture.accepted), tenth(kit));
      kit.inbox.refuse('operationSettled', request.requestId, 1);
      await send(kit, 'capture', request);
      await restart(kit);
      const report = await kit.inbox.taken('operationSettled', request.requestId, kit.profile.eventWithinMs);
      assert(report, `no event OperationSettled within ${kit.profile.eventWithinMs} ms of the restart`);
    },
  },
];

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
  for (const { request } of requests) {
    const id = request.authorizationRequestId;
    if (id) addUp(await listAll(kit, id), id);
  }
}

async function restart(kit: Kit): Promise<void> {
  await kit.process?.kill();
  await kit.process?.start();
}
