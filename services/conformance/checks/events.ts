import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Check, checkUnless, lastCheck, needs } from '../check.ts';
import { tooEarly, unexplained, unreported } from '../explain.ts';
import type { Said } from '../inbox.ts';
import type { Kit } from '../kit.ts';
import { capture, type Request, refund } from '../requests.ts';

/** One event of each kind that the profile provokes. */
const REFUSED: readonly Provoked[] = [
  {
    kind: 'captureReversed',
    skip: needs('reversed'),
    prepare: async (kit) => capture(await kit.placed(kit.profile.tokens.reversed), kit.tenth),
  },
  {
    kind: 'captureReinstated',
    skip: needs('reversedReinstated'),
    prepare: async (kit) => capture(await kit.placed(kit.profile.tokens.reversedReinstated), kit.tenth),
  },
  {
    kind: 'authorizationEnded',
    skip: needs('endedEarly'),
    prepare: async (kit) => kit.authorization(kit.profile.tokens.endedEarly),
  },
  {
    kind: 'refundReturned',
    skip: needs('refundReturned'),
    prepare: async (kit) => refund((await kit.captured(kit.profile.tokens.refundReturned)).capture, kit.tenth),
  },
  {
    kind: 'creditReturned',
    skip: needs('creditReturned'),
    prepare: async (kit) => ({ ...kit.authorization(kit.profile.tokens.creditReturned), method: 'credit' }),
  },
  {
    kind: 'operationSettled',
    skip: needs('capture', 'accepted'),
    prepare: async (kit) => capture(await kit.placed(kit.profile.tokens.capture.accepted), kit.tenth),
  },
];

interface Provoked {
  readonly kind: NonNullable<Said['case']>;
  readonly skip: NonNullable<Check['skip']>;
  /** Does what it needs; answers the request that it follows. */
  readonly prepare: (kit: Kit) => Promise<Request>;
}

/** What core may answer to an event that it does not take yet. */
const REFUSALS = [status.INVALID_ARGUMENT, status.UNAVAILABLE, status.INVALID_ARGUMENT, status.NOT_FOUND];

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
    if (kit.can('refunds')) await kit.approved(refund(of, of.amount - left));
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
  ...REFUSED.map(comesAgain),
  lastCheck('events: each result that was reported is the one that was answered', async (kit) => {
    for (const { said } of kit.inbox.reports) {
      if (said.case !== 'operationSettled' && said.case !== 'checkoutCompleted') continue;
      const known = kit.memory.answered.get(said.value.requestId);
      if (known && known.result.answer !== Answer.ACCEPTED) {
        assert.deepEqual(said.value.result, known.result, `the result of ${said.value.requestId} in its event`);
      }
    }
  }),
  lastCheck('events: each that came was asked for or provoked, once', async (kit) => {
    const { memory, inbox, profile } = kit;
    await kit.quiet();
    const books = new Set((await kit.list()).map(({ requestId }) => requestId));
    const isElse = (requestId: string) => books.has(requestId);
    const found = unexplained(inbox.reports, { memory, tokens: profile.tokens, isElse });
    assert.equal(found.length, 0, found.slice(0, 5).join('\n'));
  }),
  lastCheck('events: each result that came later, and each change in the books, was reported', async (kit) => {
    const patience = kit.patience();
    for (;;) {
      const found = unreported(kit.inbox, kit.memory, await kit.list());
      if (found.length === 0) return;
      assert(await patience.wait(), found.slice(0, 5).join('\n'));
    }
  }),
  lastCheck('events: each allowed by the contract, and one identifier, one content', async ({ inbox, memory }) => {
    assert.deepEqual(inbox.faults, []);
    assert.deepEqual(tooEarly(inbox.reports, memory), []);
    const contents = new Map<string, object>();
    for (const { eventId, said, occurredAt } of inbox.reports) {
      const first = contents.get(eventId) ?? { said, occurredAt };
      assert.deepEqual({ said, occurredAt }, first, `event ${eventId} said something else the second time`);
      contents.set(eventId, first);
    }
  }),
];

function comesAgain({ kind, skip, prepare }: Provoked): Check {
  return checkUnless(skip, `events: ${kind} that was refused comes again and again, the same`, async (kit) => {
    const request = await prepare(kit);
    const about = request.requestId;
    kit.inbox.refuse(kind, about, REFUSALS);
    await kit.send(request);
    for (let count = 1; count <= REFUSALS.length; count += 1) await kit.reportedAbout(kind, [request], count);
    const { eventId, said, occurredAt } = await kit.reported(kind, about);
    await sleep(1_000);
    const reports = kit.inbox.about(kind, about);
    const others = reports.filter((report) => report.eventId !== eventId);
    assert.equal(others.length, 0, `the same ${kind} was reported under another event_id`);
    for (const report of reports) {
      assert.deepEqual(report.said, said, 'a repeated event says the same');
      assert.deepEqual(report.occurredAt, occurredAt, 'occurred_at of a repeated event');
    }
    const isTaken = [...REFUSALS.map(() => false), true];
    assert.deepEqual(
      reports.map(({ taken }) => taken),
      isTaken,
      'the reports of one event',
    );
  });
}

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
