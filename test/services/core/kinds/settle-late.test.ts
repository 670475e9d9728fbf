/** Results that arrive after a call: by inquiries and by events. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { readBacklog } from '../../../../services/core/reports/backlog.ts';
import { readOverview } from '../../../../services/core/reports/overview-counts.ts';
import { findReviewItems } from '../../../../services/core/reports/review-items.ts';
import { accepted, approved, atWork, declined, done, neverSeen, notPerformed } from '../fake-processor.ts';
import { useScriptedStage } from '../scripted-stage.ts';
import { sql } from '../shop.ts';
import { why } from '../stage.ts';
import { LOSSES } from './samples.ts';

describe('settleLate()', () => {
  const { scripted, shop, processor } = useScriptedStage();

  for (const [table, { lose, ...ends }] of Object.entries(LOSSES)) {
    describe(`a lost answer (${table})`, () => {
      it('reserves until an inquiry finds it done, and makes one operation', async () => {
        const { requestId, books } = await lose(scripted);
        assert.equal(await books(), ends.open);
        assert.equal(await scripted.stateOf(requestId), OperationState.UNKNOWN);
        processor.says.inquire = () => done(approved);
        await scripted.inquireLater();
        await scripted.inquireLater();
        await scripted.settled(requestId, approved);
        assert.equal(await books(), ends.ok);
        assert.equal(await scripted.countOf(requestId), 1);
        const about = processor.heard.filter((call) => call.requestId === requestId);
        assert.deepEqual(about.map(({ method }) => method).slice(1), ['inquire']);
      });

      it('is KO when the inquiry finds that it was refused or never arrived', async () => {
        for (const answer of [done(declined), done(notPerformed('broken')), neverSeen]) {
          const { requestId, books } = await lose(scripted);
          processor.says.inquire = ({ requestId: about }) => (about === requestId ? answer : atWork);
          await scripted.inquireLater();
          assert.equal(await books(), ends.ko);
          assert.equal(await scripted.countOf(requestId), 1);
          scripted.approveAll();
        }
      });

      it('is settled once by an event, however often it is reported', async () => {
        const { requestId, books } = await lose(scripted);
        const eventId = randomUUID();
        await Promise.all([
          scripted.settled(requestId, approved),
          scripted.settled(requestId, approved),
          scripted.settled(requestId, approved, eventId),
        ]);
        await scripted.settled(requestId, approved, eventId);
        assert.equal(await why(scripted.settled(requestId, declined, eventId)), 'IDEMPOTENCY_KEY_REUSED');
        assert.equal(await books(), ends.ok);
        assert.equal(await scripted.countOf(requestId), 1);
      });

      it('needs review after the last inquiry, never guesses, and is still settled by later results', async () => {
        const { requestId, books } = await lose(scripted);
        const answers = [undefined, atWork, { finding: Finding.NEVER_SEEN, fenced: false }, { finding: Finding.DONE }];
        let inquiries = 0;
        processor.says.inquire = ({ requestId: about }) =>
          about === requestId ? answers[inquiries++ % answers.length] : undefined;
        while ((await scripted.stateOf(requestId)) === OperationState.UNKNOWN) {
          assert.equal(await books(), ends.open);
          await scripted.inquireLater(8 * 3_600 * 1_000);
          assert(inquiries <= 15, 'inquiries end');
        }
        assert.equal(inquiries, 15);
        assert.equal(await scripted.stateOf(requestId), OperationState.NEEDS_REVIEW);
        assert.equal(await books(), ends.review);
        await scripted.inquireLater(24 * 3_600 * 1_000);
        assert.equal(inquiries, 15);
        await scripted.settled(requestId, approved);
        assert.equal(await scripted.stateOf(requestId), OperationState.OK);
        assert.equal(await scripted.countOf(requestId), 1);
      });
    });
  }

  describe('an answer that is only ACCEPTED', () => {
    const DAY_MS = 24 * 3_600_000;
    const capture = async (expectedMs: number) => {
      const hold = await shop.hold();
      const result = accepted(scripted.stage.clock.now(), expectedMs);
      processor.says.capture = () => result;
      processor.says.inquire = ({ requestId }) =>
        requestId === capturing.requestId ? { ...atWork, result } : undefined;
      const { capture: made } = await shop.capture(hold, 4_000n);
      const capturing = { requestId: made?.requestId ?? '', hold };
      assert.equal(made?.state, OperationState.UNKNOWN);
      return capturing;
    };

    it('is a 202, and final by an event', async () => {
      const { requestId, hold } = await capture(DAY_MS);
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/4000/6000/0/0');
      await scripted.settled(requestId, approved);
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/0');
      assert.equal(await scripted.countOf(requestId), 1);
    });

    it('needs no review before its result is due, however often inquired about, and needs it afterwards', async () => {
      const { requestId } = await capture(5 * DAY_MS);
      for (let hour = 0; hour < 5 * 24 - 1; hour++) await scripted.inquireLater(3_600_000);
      assert.equal(await scripted.stateOf(requestId), OperationState.UNKNOWN);
      await scripted.inquireLater(2 * 3_600_000);
      assert.equal(await scripted.stateOf(requestId), OperationState.NEEDS_REVIEW);
    });

    /** Where operators would see it: the gauges of count and age, the overview, the list of reviews. */
    const trouble = async ({ requestId }: { requestId: string }) => {
      const { stage } = scripted;
      const now = new Date(stage.clock.now());
      const samples = await readBacklog(stage.database.query, now);
      const shown = (gauge: string) =>
        samples.find((each) => each.gauge === gauge && each.labels.kind === 'CAPTURE')?.value ?? 0;
      const { unknownCount } = await readOverview(stage.database.query, now, now);
      const items = await findReviewItems(stage.database.query, {}, { after: undefined, limit: 1_000, now });
      const ages = [shown('unknown_outcomes'), shown('unknown_outcome_oldest_age_seconds')];
      return [...ages, unknownCount, items.filter((item) => item.requestId === requestId).length];
    };
    /** Nothing else is open. */
    const alone = () => sql(scripted.stage, `delete from submission where state not in ('OK', 'KO')`);

    it('is overdue only after its result was due', async () => {
      await alone();
      const [, , others] = await trouble({ requestId: randomUUID() });
      const made = await capture(3_600_000);
      assert.deepEqual(await trouble(made), [0, 0, others, 0]);
      scripted.stage.clock.advance(3_599_999);
      assert.deepEqual(await trouble(made), [0, 0, others, 0]);
      scripted.stage.clock.advance(10_001);
      assert.deepEqual(await trouble(made), [1, 10, Number(others) + 1, 1]);
      await scripted.settled(made.requestId, approved);
      assert.deepEqual(await trouble(made), [0, 0, others, 0]);
    });

    it('is not overdue before, whatever its kind', async () => {
      const unknown = async () => {
        const { database, clock } = scripted.stage;
        const samples = await readBacklog(database.query, new Date(clock.now()));
        const unknown = samples.filter(({ gauge }) => gauge === 'unknown_outcomes');
        return ['HOLD', 'CAPTURE', 'RELEASE', 'OCT'].map(
          (kind) => unknown.find(({ labels }) => labels.kind === kind)?.value ?? 0,
        );
      };
      const [toCapture, toRelease, before] = [await shop.hold(), await shop.hold(), await unknown()];
      const result = accepted(scripted.stage.clock.now(), 3_600_000);
      processor.says = { authorize: () => result, capture: () => result, void: () => result, credit: () => result };
      const asked = [shop.place(), shop.capture(toCapture, 1n), shop.release(toRelease), shop.oct()];
      await Promise.all<unknown>(asked);
      assert.deepEqual(await unknown(), before);
      scripted.stage.clock.advance(3_600_000);
      assert.deepEqual(
        await unknown(),
        before.map((count) => count + 1),
      );
    });

    it('has its due time extended when an inquiry says so', async () => {
      await alone();
      const made = await capture(3_600_000);
      const later = accepted(scripted.stage.clock.now(), DAY_MS);
      processor.says.inquire = () => ({ ...atWork, result: later });
      await scripted.inquireLater(3_600_000);
      assert.deepEqual((await trouble(made)).slice(0, 2), [0, 0]);
      scripted.stage.clock.advance(DAY_MS);
      assert.equal((await trouble(made))[0], 1);
    });

    it('needs no review before its result is due, though the processor does not answer for days', async () => {
      const { requestId } = await capture(5 * DAY_MS);
      processor.says.inquire = () => undefined;
      for (let hour = 0; hour < 5 * 24 - 1; hour++) await scripted.inquireLater(3_600_000);
      assert.equal(await scripted.stateOf(requestId), OperationState.UNKNOWN);
      await scripted.inquireLater(2 * 3_600_000);
      assert.equal(await scripted.stateOf(requestId), OperationState.NEEDS_REVIEW);
    });

    it('is found by an inquiry when the event is lost', async () => {
      const { hold } = await capture(DAY_MS);
      processor.says.inquire = () => done(approved);
      await scripted.inquireLater(3_600_000);
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/0');
    });
  });

  it('rejects an event about an unknown operation, and one without a result', async () => {
    assert.equal(await why(scripted.settled(randomUUID(), approved)), 'OPERATION_NOT_FOUND');
    const reversal = { captureRequestId: randomUUID(), amount: 1n, reference: '' };
    assert.equal(await why(scripted.report({ case: 'captureReversed', value: reversal })), 'OPERATION_NOT_FOUND');
    assert.equal(await why(scripted.report(undefined)), 'INVALID_REQUEST');
    const nothing = { requestId: randomUUID(), result: {} };
    assert.equal(await why(scripted.report({ case: 'operationSettled', value: nothing })), 'INVALID_REQUEST');
  });

  it('keeps the whole message of a refusal, of as many characters as the contract allows', async () => {
    const errorMessage = `${'.'.repeat(499)}😀`;
    processor.says.capture = () => ({ ...declined, errorMessage });
    const hold = await shop.hold();
    assert.equal(await why(shop.capture(hold, 4_000n)), 'CARD_DECLINED');
    const { captures } = await shop.get(hold);
    assert.deepEqual(
      captures.map(({ processorError }) => processorError?.message),
      [errorMessage],
    );
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('accepts a rejected event when it is reported again', async () => {
    const hold = await shop.hold();
    processor.says.capture = () => undefined;
    const { capture } = await shop.capture(hold, 4_000n);
    const { requestId = '' } = capture ?? {};
    const reversal = {
      case: 'captureReversed',
      value: { captureRequestId: requestId, amount: 4_000n, reference: 'r' },
    } as const;
    assert.equal(await why(scripted.report(reversal, 'the-reversal')), 'UNAVAILABLE');
    await scripted.settled(requestId, approved);
    for (let times = 0; times < 3; times++) await scripted.report(reversal, 'the-reversal');
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/4000');
    const wrong = {
      case: 'captureReversed',
      value: { captureRequestId: requestId, amount: 1n, reference: 'r' },
    } as const;
    assert.equal(await why(scripted.report(wrong)), 'INVALID_REQUEST');
  });

  it('settles all other submissions when one cannot be settled', async () => {
    const broken = await LOSSES.HOLD.lose(scripted);
    scripted.approveAll();
    const sound = await LOSSES.CAPTURE.lose(scripted);
    processor.says.inquire = ({ requestId }) =>
      requestId === broken.requestId ? done({ ...approved, reference: 'broken' }) : done(approved);
    await sql(scripted.stage, `alter table hold add constraint broken check (processor_reference <> 'broken')`);
    await assert.rejects(scripted.inquireLater());
    assert.equal(await sound.books(), LOSSES.CAPTURE.ok);
    await sql(scripted.stage, 'alter table hold drop constraint broken');
    processor.says.inquire = () => done(approved);
    await scripted.inquireLater(120_000);
    assert.equal(await broken.books(), LOSSES.HOLD.ok);
  });
});
