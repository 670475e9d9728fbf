import assert from 'node:assert/strict';
import { Answer, Finding } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { told } from '../answer.ts';
import { type Check, can, checkUnless, needs } from '../check.ts';
import type { Kit } from '../kit.ts';
import { refund } from '../requests.ts';

const refunds = can('refunds', 'the processor cannot refund');

/** A refund that is decided later, and a dispute of the same capture meanwhile. */
export const DISPUTED: readonly Check[] = [
  checkUnless(
    (kit) =>
      refunds(kit) ??
      can('accepts', 'the processor accepts nothing to do it later')(kit) ??
      needs('refundAcceptedReversed')(kit),
    'accepted refund: its capture is taken back meanwhile',
    async (kit) => {
      for (let round = 0; round < ROUNDS; round += 1) if (await cross(kit)) return;
    },
  ),
];

/** On a busy machine the capture may be taken back before the refund arrives, or the refund have ended first. */
const ROUNDS = 3;

/** Plays it once; returns whether the two have met. */
async function cross(kit: Kit): Promise<boolean> {
  const { hold, capture: of } = await kit.captured(kit.profile.tokens.refundAcceptedReversed);
  const request = refund(of, of.amount / 2n);
  const sentMs = Date.now();
  const first = await kit.send(request);
  const { said } = await kit.reported('captureReversed', of.requestId);
  const taken = said.value.amount;
  assert(taken <= of.amount, `${taken} was taken back of ${of.amount}`);
  if (first.answer !== Answer.ACCEPTED) {
    assert.equal(told(first), 'NOT_PERFORMED amount_exceeds_capture', 'a refund with the token of its profile');
    return false;
  }
  const isMeanwhile = (await kit.inquire(request)).finding === Finding.AT_WORK;
  // What the refund holds back is not free, and what was taken back is not either.
  const more = refund(of, leftOf(of.amount, taken + request.amount) + 1n);
  await kit.refused(more, 'a second refund of more than both leave', TOO_MUCH);
  if (isMeanwhile)
    assert.equal((await entryOf(kit, of.requestId)).reversed, taken, 'reversed of the capture meanwhile');
  await kit.endOf(request, first, sentMs);
  const { answer } = await kit.send(request);
  const refunded = answer === Answer.APPROVED ? request.amount : 0n;
  await kit.expectBooks(hold, { ...kit.afterCapture, reversed: taken, refunded });
  const entry = await entryOf(kit, of.requestId);
  assert.deepEqual([entry.reversed, entry.refunded], [taken, refunded], 'reversed and refunded of the capture');
  const rest = refund(of, leftOf(of.amount, taken + refunded) + 1n);
  await kit.refused(rest, 'a refund of more than is left after both', TOO_MUCH);
  return isMeanwhile;
}

const TOO_MUCH = ['amount_exceeds_capture'];

/** What is left of an amount; a refund and a dispute may together take more than there is. */
const leftOf = (amount: bigint, gone: bigint) => (gone > amount ? 0n : amount - gone);

async function entryOf(kit: Kit, requestId: string) {
  const { authorizationRequestId = '' } = kit.memory.sent.get(requestId) ?? {};
  const entry = (await kit.list({ authorizationRequestId })).find((one) => one.requestId === requestId);
  assert(entry, `the books do not know ${requestId}`);
  return entry;
}
