import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Check, checkUnless, lastCheck, needs } from '../check.ts';
import type { Report, Said } from '../inbox.ts';
import { capture, refund } from '../requests.ts';

/** What the processor does by itself: reported until it is taken, always the same, and in the books. */
export const EVENTS: readonly Check[] = [
  reversal('the whole', 'reversed', (amount) => amount),
  reversal('a part', 'reversedInPart'),
  checkUnless(needs('reversedUnattributed'), 'events: a reversal that names no capture', async (kit) => {
    const { hold } = await kit.captured(kit.profile.tokens.reversedUnattributed);
    const { said } = await kit.reported('captureReversed', hold.requestId);
    await kit.expectBooks(hold, { ...kit.afterCapture, reversed: said.value.amount });
  }),
  checkUnless(needs('reversedReinstated'), 'events: a reversal that is reinstated', async (kit) => {
    const { hold, capture: of } = await kit.captured(kit.profile.tokens.reversedReinstated);
    const reversed = await kit.reported('captureReversed', of.requestId);
    const { said } = await kit.reported('captureReinstated', of.requestId);
    assert(said.value.amount <= reversed.said.value.amount, 'more was reinstated than was taken back');
    const { reversalEventId } = said.value;
    if (reversalEventId !== '') assert.equal(reversalEventId, reversed.eventId, 'reversal_event_id');
    const left = reversed.said.value.amount - said.value.amount;
    await kit.expectBooks(hold, { ...kit.afterCapture, reversed: left });
  }),
  checkUnless(needs('refundReturned'), 'events: a refund that comes back can be refunded again', async (kit) => {
    const { hold, capture: of } = await kit.captured(kit.profile.tokens.refundReturned);
    const back = refund(of, of.amount);
    await kit.approved(back);
    const { amount } = (await kit.reported('refundReturned', back.requestId)).said.value;
    assert(amount <= back.amount, 'more came back than was refunded');
    await kit.expectBooks(hold, { ...kit.afterCapture, refunded: back.amount - amount });
    await kit.approved(refund(of, amount));
  }),
  checkUnless(needs('creditReturned'), 'events: a credit that comes back', async (kit) => {
    const of = { ...kit.authorization(kit.profile.tokens.creditReturned), method: 'credit' as const };
    await kit.approved(of);
    const { amount } = (await kit.reported('creditReturned', of.requestId)).said.value;
    assert(amount <= of.amount, 'more came back than was paid');
    const entry = (await kit.list()).find(({ requestId }) => requestId === of.requestId);
    assert.deepEqual(
      [entry?.answer, entry?.returned],
      [Answer.APPROVED, amount],
      'returned of the credit in the books',
    );
  }),
  checkUnless(needs('endedEarly'), 'events: an authorization that ends by itself', async (kit) => {
    const hold = await kit.placed(kit.profile.tokens.endedEarly);
    const { said } = await kit.reported('authorizationEnded', hold.requestId);
    assert.equal(said.value.amount, hold.amount, 'what was left');
    await kit.refused(capture(hold, 1n), 'a capture of a hold that ended');
    await kit.expectBooks(hold, { voided: hold.amount });
    const entries = await kit.list({ authorizationRequestId: hold.requestId });
    const endedAt = entries.find(({ requestId }) => requestId === hold.requestId)?.endedAt;
    assert(endedAt, 'ended_at of the authorization in the books');
  }),
  checkUnless(
    needs('reversed'),
    'events: one that was refused comes again, the same; one that was taken does not',
    async (kit) => {
      const hold = await kit.placed(kit.profile.tokens.reversed);
      const of = capture(hold, kit.tenth);
      kit.inbox.refuse('captureReversed', of.requestId, 2);
      await kit.approved(of);
      const { eventId, said } = await kit.reported('captureReversed', of.requestId);
      await sleep(2_000);
      const reports = kit.inbox.reports.filter((report) => report.eventId === eventId);
      const others = kit.inbox.reports.filter((report) => isAbout(report, of.requestId) && report.eventId !== eventId);
      assert.equal(others.length, 0, 'the same reversal was reported under another event_id');
      assert.deepEqual(
        reports.map((report) => report.taken),
        [false, false, true],
        'the reports of one event',
      );
      for (const report of reports) assert.deepEqual(report.said, said, 'a repeated event says the same');
      await kit.expectBooks(hold, { ...kit.afterCapture, reversed: kit.tenth });
    },
  ),
  checkUnless(needs('capture', 'accepted'), 'events: a result that was refused comes again, the same', async (kit) => {
    const request = capture(await kit.placed(kit.profile.tokens.capture.accepted), kit.tenth);
    kit.inbox.refuse('operationSettled', request.requestId, 2);
    const accepted = await kit.send(request);
    assert.equal(Answer[accepted.answer], 'ACCEPTED');
    const { eventId, said } = await kit.reported('operationSettled', request.requestId);
    const reports = kit.inbox.reports.filter((report) => report.eventId === eventId);
    assert.equal(reports.length, 3, 'the reports of one event');
    for (const report of reports) assert.deepEqual(report.said, said, 'a repeated event says the same');
  }),
  lastCheck('events: each result that was reported is the one that was answered', async (kit) => {
    for (const { said } of kit.inbox.reports) {
      if (said.case !== 'operationSettled' && said.case !== 'checkoutCompleted') continue;
      const known = kit.answered.get(said.value.requestId);
      if (known && known.result.answer !== Answer.ACCEPTED) {
        assert.deepEqual(said.value.result, known.result, `the result of ${said.value.requestId} in its event`);
      }
    }
  }),
  lastCheck('events: each allowed by the contract, and one identifier, one content', async ({ inbox }) => {
    assert.deepEqual(inbox.faults, []);
    const contents = new Map<string, Said>();
    for (const { eventId, said } of inbox.reports) {
      const first = contents.get(eventId) ?? said;
      assert.deepEqual(said, first, `event ${eventId} said something else the second time`);
      contents.set(eventId, first);
    }
  }),
];

function reversal(what: string, token: 'reversed' | 'reversedInPart', expected?: (amount: bigint) => bigint): Check {
  return checkUnless(needs(token), `events: a reversal of ${what}`, async (kit) => {
    const { hold, capture: of } = await kit.captured(kit.profile.tokens[token]);
    const { said } = await kit.reported('captureReversed', of.requestId);
    const { amount } = said.value;
    if (expected) assert.equal(amount, expected(of.amount), 'what was taken back');
    else assert(amount < of.amount, `a part of the capture is less than ${of.amount}`);
    await kit.expectBooks(hold, { ...kit.afterCapture, reversed: amount });
  });
}

function isAbout({ said }: Report, captureRequestId: string): boolean {
  return said.case === 'captureReversed' && said.value.captureRequestId === captureRequestId;
}
