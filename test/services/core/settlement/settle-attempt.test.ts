/** What comes after a call: inquiries and events. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { Desk } from '../desk.ts';
import { approved, atWork, declined, done, type FakeProcessor, neverSeen, notPerformed } from '../fake-processor.ts';
import { openScriptedStage, type ScriptedStage } from '../scripted-stage.ts';
import { refusal } from '../stage.ts';

describe('settleAttempt()', function () {
  this.timeout(60_000);
  let scripted: ScriptedStage;
  let desk: Desk;
  let processor: FakeProcessor;

  before(async () => {
    scripted = await openScriptedStage();
    ({ desk, processor } = scripted);
  });
  after(() => scripted.close());
  beforeEach(() => {
    scripted.approveAll();
    processor.heard.length = 0;
  });

  /** Each kind of attempt, left without an answer: the requestId of the attempt and how its subject stands. */
  const KINDS = {
    async hold() {
      processor.says.authorize = () => undefined;
      const { preauthorization: hold = assert.fail(), state } = await desk.place();
      assert.equal(state, OperationState.UNKNOWN);
      return { requestId: hold.requestId, books: () => desk.books(hold), hold };
    },
    async capture() {
      const hold = await desk.hold();
      processor.says.capture = () => undefined;
      const { capture } = await desk.capture(hold, 4_000n);
      assert.equal(capture?.state, OperationState.UNKNOWN);
      assert.deepEqual([capture.bankReference, capture.captureDate], ['', undefined]);
      return { requestId: capture.requestId, books: () => desk.books(hold), hold };
    },
    async release() {
      const hold = await desk.hold();
      processor.says.void = () => undefined;
      const { requestId, state, preauthorization } = await desk.release(hold);
      assert.equal(state, OperationState.UNKNOWN);
      assert.equal(preauthorization?.requestId, hold.requestId);
      return { requestId, books: () => desk.books(hold), hold };
    },
    async oct() {
      processor.says.credit = () => undefined;
      const { oct } = await desk.oct();
      assert.equal(oct?.state, OperationState.UNKNOWN);
      const { requestId } = oct;
      return {
        requestId,
        books: async () => OperationState[(await scripted.stateOf(requestId)) ?? 0],
        hold: undefined,
      };
    },
  };
  const BOOKS = {
    hold: {
      open: 'IN_PROGRESS UNKNOWN 0/0/10000/0/0',
      review: 'IN_PROGRESS NEEDS_REVIEW 0/0/10000/0/0',
      ok: 'IN_PROGRESS 0/0/10000/0/0',
      ko: 'FAILED FAILED 0/0/0/10000/0',
    },
    capture: {
      open: 'IN_PROGRESS 0/4000/6000/0/0',
      review: 'IN_PROGRESS 0/4000/6000/0/0',
      ok: 'PARTIALLY_CAPTURED 4000/0/6000/0/0',
      ko: 'IN_PROGRESS 0/0/10000/0/0',
    },
    release: {
      open: 'IN_PROGRESS 0/10000/0/0/0',
      review: 'IN_PROGRESS 0/10000/0/0/0',
      ok: 'RELEASED 0/0/0/10000/0 RELEASED',
      ko: 'IN_PROGRESS 0/0/10000/0/0',
    },
    oct: { open: 'UNKNOWN', review: 'NEEDS_REVIEW', ok: 'OK', ko: 'KO' },
  };
  const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];

  for (const kind of kinds) {
    describe(`a lost answer (${kind})`, () => {
      it('reserves until an inquiry finds it done, and makes one operation', async () => {
        const { requestId, books } = await KINDS[kind]();
        assert.equal(await books(), BOOKS[kind].open);
        assert.equal(await scripted.stateOf(requestId), OperationState.UNKNOWN);
        processor.says.inquire = () => done(approved);
        await scripted.inquireLater();
        await scripted.inquireLater();
        await scripted.settled(requestId, approved);
        assert.equal(await books(), BOOKS[kind].ok);
        assert.equal(await scripted.countOf(requestId), 1);
        const about = processor.heard.filter((call) => call.requestId === requestId);
        assert.deepEqual(about.map(({ method }) => method).slice(1), ['inquire']);
      });

      it('is KO when the inquiry finds a no, or that it never arrived', async () => {
        for (const answer of [done(declined), done(notPerformed('broken')), neverSeen]) {
          const { requestId, books } = await KINDS[kind]();
          processor.says.inquire = ({ requestId: about }) => (about === requestId ? answer : atWork);
          await scripted.inquireLater();
          assert.equal(await books(), BOOKS[kind].ko);
          assert.equal(await scripted.countOf(requestId), 1);
          scripted.approveAll();
        }
      });

      it('is settled by an event, once, however often it is reported', async () => {
        const { requestId, books } = await KINDS[kind]();
        const eventId = randomUUID();
        await Promise.all([
          scripted.settled(requestId, approved),
          scripted.settled(requestId, approved),
          scripted.settled(requestId, approved, eventId),
        ]);
        await scripted.settled(requestId, approved, eventId);
        assert.equal((await refusal(scripted.settled(requestId, declined, eventId))).reason, 'IDEMPOTENCY_KEY_REUSED');
        assert.equal(await books(), BOOKS[kind].ok);
        assert.equal(await scripted.countOf(requestId), 1);
      });

      it('needs review after the last inquiry, never a guess, and is still settled by what comes later', async () => {
        const { requestId, books } = await KINDS[kind]();
        const answers = [undefined, atWork, { finding: Finding.NEVER_SEEN, fenced: false }, { finding: Finding.DONE }];
        let inquiries = 0;
        processor.says.inquire = ({ requestId: about }) =>
          about === requestId ? answers[inquiries++ % answers.length] : undefined;
        while ((await scripted.stateOf(requestId)) === OperationState.UNKNOWN) {
          assert.equal(await books(), BOOKS[kind].open);
          await scripted.inquireLater(8 * 3_600 * 1_000);
          assert(inquiries <= 15, 'there is an end to it');
        }
        assert.equal(inquiries, 15);
        assert.equal(await scripted.stateOf(requestId), OperationState.NEEDS_REVIEW);
        assert.equal(await books(), BOOKS[kind].review);
        await scripted.inquireLater(24 * 3_600 * 1_000);
        assert.equal(inquiries, 15);
        await scripted.settled(requestId, approved);
        assert.equal(await scripted.stateOf(requestId), OperationState.OK);
        assert.equal(await scripted.countOf(requestId), 1);
      });
    });
  }

  it('refuses an event about nothing we know, and one that says nothing', async () => {
    assert.equal((await refusal(scripted.settled(randomUUID(), approved))).reason, 'OPERATION_NOT_FOUND');
    const reversal = { captureRequestId: randomUUID(), amount: 1n, reference: '' };
    assert.equal(
      (await refusal(scripted.report({ case: 'captureReversed', value: reversal }))).reason,
      'OPERATION_NOT_FOUND',
    );
    assert.equal((await refusal(scripted.report(undefined))).reason, 'INVALID_REQUEST');
    const nothing = { requestId: randomUUID(), result: {} };
    assert.equal(
      (await refusal(scripted.report({ case: 'operationSettled', value: nothing }))).reason,
      'INVALID_REQUEST',
    );
  });

  it('takes a refused event when it is reported again', async () => {
    const hold = await desk.hold();
    processor.says.capture = () => undefined;
    const { capture } = await desk.capture(hold, 4_000n);
    const { requestId = '' } = capture ?? {};
    const reversal = {
      case: 'captureReversed',
      value: { captureRequestId: requestId, amount: 4_000n, reference: 'r' },
    } as const;
    assert.equal((await refusal(scripted.report(reversal, 'the-reversal'))).reason, 'UNAVAILABLE');
    await scripted.settled(requestId, approved);
    for (let times = 0; times < 3; times++)
      await scripted.report(reversal, `the-reversal${times === 2 ? '-again' : ''}`);
    assert.equal(await desk.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/4000');
    const wrong = {
      case: 'captureReversed',
      value: { captureRequestId: requestId, amount: 1n, reference: 'r' },
    } as const;
    assert.equal((await refusal(scripted.report(wrong))).reason, 'INVALID_REQUEST');
  });

  it('settles every other attempt when one cannot be', async () => {
    const broken = await KINDS.hold();
    scripted.approveAll();
    const sound = await KINDS.capture();
    processor.says.inquire = ({ requestId }) =>
      requestId === broken.requestId ? done({ ...approved, reference: '\0' }) : done(approved);
    scripted.stage.clock.advance(60_000);
    await assert.rejects(scripted.stage.inquire());
    assert.equal(await sound.books(), BOOKS.capture.ok);
    processor.says.inquire = () => done(approved);
    await scripted.inquireLater(120_000);
    assert.equal(await broken.books(), BOOKS.hold.ok);
  });
});
