import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Answer, Finding } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { addUp, listAll } from '../books.ts';
import type { Check } from '../check.ts';
import { KINDS, type Kind, tokenOf } from '../kinds.ts';
import { inquire, type Kit, type Request, send } from '../kit.ts';
import { supported } from './supported.ts';

/** What is ACCEPTED ends by the time it says, and inquiry, event and repetition say alike how. */
export const ACCEPTED: readonly Check[] = KINDS.map((kind) => ({
  name: `${kind.name}: accepted, it ends in time and says how`,
  skip: supported(kind, 'accepted'),
  run: (kit) => demandEnd(kit, kind),
}));

async function demandEnd(kit: Kit, kind: Kind): Promise<void> {
  const request = await kind.prepare(kit, tokenOf(kit.profile, kind, 'accepted'));
  // The hold that an operation needs may have been placed with the same token only if holds are not accepted with it.
  const sentMs = Date.now();
  const accepted = await send(kit, kind.method, request);
  assert.equal(Answer[accepted.answer], 'ACCEPTED');
  const repeated = await send(kit, kind.method, request);
  assert(
    repeated.answer !== Answer.ACCEPTED || accepted.expectedBy?.seconds === repeated.expectedBy?.seconds,
    'expected_by of a repeated request',
  );
  const untilMs = accepted.expectedBy ? timestampMs(accepted.expectedBy) : sentMs + kit.profile.eventWithinMs;
  assert(untilMs > sentMs, 'expected_by is in the future');
  const result = await endOf(kit, request, untilMs);
  assert.deepEqual(await send(kit, kind.method, request), result, 'the answer to a repeated request, after the end');
  const report = await kit.inbox.taken('operationSettled', request.requestId, kit.profile.eventWithinMs);
  assert(report?.said.case === 'operationSettled', `no event OperationSettled within ${kit.profile.eventWithinMs} ms`);
  assert.deepEqual(report.said.value.result, result, 'the result of the event OperationSettled');
  if (request.authorizationRequestId)
    addUp(await listAll(kit, request.authorizationRequestId), request.authorizationRequestId);
}

/** Asks until it has ended. */
async function endOf(kit: Kit, request: Request, untilMs: number) {
  for (;;) {
    const { finding, result } = await inquire(kit, request);
    if (finding === Finding.DONE) {
      assert(result && result.answer !== Answer.ACCEPTED, 'an inquiry says DONE without a final result');
      return result;
    }
    assert.equal(Finding[finding], 'AT_WORK', 'the finding about an accepted operation');
    if (result) assert.equal(Answer[result.answer], 'ACCEPTED', 'the result of an operation at work');
    assert(Date.now() < untilMs, 'it had not ended when expected_by was over');
    await sleep(100);
  }
}
