/** Authorizations that ended at the processor, without a void or capture of ours. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { AuthorizationEnd } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { CapabilitiesSchema } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { isStored } from '../../../../services/core/books/submission-request.ts';
import { markEnded } from '../../../../services/core/storage/hold/change-hold.ts';
import { type ReadHold, readHolds } from '../../../../services/core/storage/hold/read-holds.ts';
import { forSuite } from '../../../suite.ts';
import { approved, declined, neverSeen } from '../fake-processor.ts';
import { useScriptedStage } from '../scripted-stage.ts';
import { openMerchant } from '../shop.ts';
import { openStage, refusal, why } from '../stage.ts';

const { EXPIRED, VOIDED } = AuthorizationEnd;

const CAN_RELEASE_PARTS = create(CapabilitiesSchema, { partialRelease: true, severalCaptures: true });

describe('endHold()', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'told', { webhookUrl: 'https://merchant.example' }));

  const ends = ({ requestId }: { requestId: string }, end: AuthorizationEnd, amount: bigint, eventId?: string) =>
    scripted.report({ case: 'authorizationEnded', value: { requestId, end, amount, reference: 'end-1' } }, eventId);
  const drifts = () => scripted.stage.audit('own books');
  const told = async (hold: { requestId: string }) =>
    (await scripted.notificationsOf(hold)).map(({ word, body }) => [word, body.status, body.amount, body.reference]);
  const heard = () => processor.heard.map(({ method }) => method);

  it('ends a hold that expired at the processor, with its operation and notification, and sends no void', async () => {
    const hold = await shop.hold();
    await ends(hold, EXPIRED, 10_000n);
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    assert.deepEqual(await shop.results(hold), ['authorized', 'expired 10000']);
    assert.deepEqual(await told(hold), [['expired', 'KO', 10_000, 'end-1']]);
    assert.deepEqual(heard(), ['authorize']);
    assert.equal(await why(shop.capture(hold, 1n)), 'HOLD_EXPIRED');
  });

  it('releases a hold that was voided at the processor', async () => {
    const hold = await shop.hold();
    await shop.capture(hold, 4_000n);
    await ends(hold, VOIDED, 6_000n);
    assert.equal(await shop.books(hold), 'CAPTURED 4000/0/0/6000/0 RELEASED');
    assert.deepEqual((await told(hold)).slice(1), [['released', 'OK', 6_000, 'end-1']]);
    assert.equal(await why(shop.capture(hold, 1n)), 'HOLD_RELEASED');
    assert.deepEqual(await drifts(), []);
  });

  it('ends it once, however often that is reported, and does not change a hold that has ended', async () => {
    const hold = await shop.hold();
    await Promise.all([ends(hold, EXPIRED, 10_000n, 'e1'), ends(hold, EXPIRED, 10_000n, 'e2')]);
    await ends(hold, VOIDED, 10_000n, 'e3');
    assert.deepEqual(await shop.results(hold), ['authorized', 'expired 10000']);
    const released = await shop.hold();
    await shop.release(released);
    await ends(released, EXPIRED, 10_000n);
    assert.equal(await shop.books(released), 'RELEASED 0/0/0/10000/0 RELEASED');
  });

  it('rejects the end of a hold that is not placed yet, for now, and accepts that of one that never was', async () => {
    assert.equal(await why(ends({ requestId: randomUUID() }, EXPIRED, 1n)), 'OPERATION_NOT_FOUND');
    processor.says.authorize = () => undefined;
    const { preauthorization: hold = assert.fail() } = await shop.place();
    assert.equal(await why(ends(hold, EXPIRED, 10_000n, 'early')), 'UNAVAILABLE');
    await scripted.settled(hold.requestId, approved);
    await ends(hold, EXPIRED, 10_000n, 'early');
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    processor.says.authorize = () => declined;
    const { metadata } = await refusal(shop.place());
    await ends({ requestId: metadata.requestId ?? '' }, EXPIRED, 10_000n);
  });

  describe('while a capture is under way', () => {
    const withCapture = async (fields: object = {}) => {
      const hold = await shop.hold();
      processor.says.capture = () => undefined;
      const { capture } = await shop.capture(hold, 4_000n, fields);
      return { hold, captureRequestId: capture?.requestId ?? '' };
    };

    it('refuses other captures and releases, and waits for its result', async () => {
      for (const [result, books, results] of [
        [approved, 'CAPTURED 4000/0/0/6000/0 EXPIRED', ['authorized', 'captured 4000', 'expired 6000']],
        [declined, 'EXPIRED 0/0/0/10000/0 EXPIRED', ['authorized', 'declined 4000', 'expired 10000']],
      ] as const) {
        const { hold, captureRequestId } = await withCapture();
        await ends(hold, EXPIRED, 6_000n);
        assert.equal(await shop.books(hold), 'IN_PROGRESS 0/4000/6000/0/0');
        assert.equal(await why(shop.capture(hold, 1n)), 'HOLD_EXPIRED');
        assert.equal(await why(shop.release(hold)), 'HOLD_EXPIRED');
        await scripted.stage.expire();
        assert.equal(await shop.books(hold), 'IN_PROGRESS 0/4000/6000/0/0');
        await scripted.settled(captureRequestId, result);
        await scripted.stage.expire();
        assert.equal(await shop.books(hold), books);
        assert.deepEqual(await shop.results(hold), results);
        assert(!heard().includes('void'));
        assert.deepEqual(await drifts(), []);
      }
    });

    it('has nothing left to end when that was the final one', async () => {
      const { hold, captureRequestId } = await withCapture({ finalCapture: true });
      await ends(hold, VOIDED, 6_000n);
      await scripted.settled(captureRequestId, approved);
      await scripted.stage.expire();
      assert.equal(await shop.books(hold), 'CAPTURED 4000/0/0/6000/0 FINAL');
      assert.deepEqual(await shop.results(hold), ['authorized', 'captured 4000']);
    });

    it('has nothing left to end, either, when that took all that a partial release had left', async () => {
      processor.says.authorize = () => ({ ...approved, capabilities: CAN_RELEASE_PARTS });
      const hold = await shop.hold();
      await shop.releasePart(hold, 3_000n);
      processor.says.capture = () => undefined;
      const { capture } = await shop.capture(hold, 7_000n);
      await ends(hold, EXPIRED, 0n);
      await scripted.settled(capture?.requestId ?? '', approved);
      await scripted.stage.expire();
      assert.equal(await shop.books(hold), 'CAPTURED 7000/0/0/3000/0 FINAL');
      assert.deepEqual(await shop.results(hold), ['authorized', 'partially_released 3000', 'captured 7000']);
      assert.deepEqual(await drifts(), []);
    });

    it('ends when a release of the merchant found nothing left', async () => {
      const hold = await shop.hold();
      processor.says.void = () => undefined;
      const { requestId } = await shop.release(hold);
      await ends(hold, VOIDED, 10_000n);
      await scripted.settled(requestId, { answer: 3, errorCode: 'authorization_voided' });
      await scripted.stage.expire();
      assert.equal(await shop.books(hold), 'RELEASED 0/0/0/10000/0 RELEASED');
      assert.deepEqual(await shop.results(hold), ['authorized', 'failed 10000', 'released 10000']);
    });
  });

  it('freezes the hold when the released amount is neither what was left nor that with what is in flight', async () => {
    for (const [amount, doubted] of [
      [5_999n, 'UNKNOWN_CHARGE'],
      [6_000n, ''],
      [10_000n, ''],
      [10_001n, 'AMOUNT_DIFFERS'],
    ] as const) {
      const hold = await shop.hold();
      processor.says.capture = () => undefined;
      processor.says.inquire = () => neverSeen;
      await shop.capture(hold, 4_000n);
      await ends(hold, EXPIRED, amount);
      await scripted.inquireLater();
      await scripted.stage.expire();
      if (doubted === '') {
        assert.equal(await shop.books(hold), `EXPIRED 0/0/0/10000/0 EXPIRED`, String(amount));
        assert.deepEqual((await shop.results(hold)).slice(2), ['expired 10000']);
        continue;
      }
      // Nobody is told that it ended.
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
      assert.deepEqual((await shop.results(hold)).slice(2), []);
      const { reason, metadata } = await refusal(shop.release(hold));
      assert.deepEqual([reason, metadata.frozenBecause], ['HOLD_FROZEN', doubted]);
    }
    assert.deepEqual(await drifts(), []);
  });

  it('is finished by recovery when the process died in between', async () => {
    const { requestId } = await shop.hold();
    const { database, books } = scripted.stage.recovery;
    const at = new Date(scripted.stage.clock.now());
    const [{ idHash, version }] = (await readHolds(database.query, [requestId])) as [ReadHold];
    await markEnded(database.query, version, { requestId, as: 'EXPIRED', amount: 10_000n, reference: 'end-2' });
    const end = { kind: 'EXPIRY', requestId: randomUUID(), idHash, reported: true } as const;
    assert(isStored(await books.store({ ...end, at, inquireAt: at })));
    assert.equal(await shop.books({ requestId }), 'IN_PROGRESS 0/10000/0/0/0');
    processor.says = {};
    for (let times = 0; times < 3; times++) await scripted.inquireLater();
    assert.equal(await shop.books({ requestId }), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    assert.deepEqual(await told({ requestId }), [['expired', 'KO', 10_000, 'end-2']]);
    assert.deepEqual(heard(), ['authorize']);
  });

  it('agrees with the sandbox', async () => {
    const stage = await openStage();
    const acme = await openMerchant(stage, 'acme');
    const [expired, voided, captured] = [
      // The processor knows it by an identifier derived from the key.
      await acme.hold({ tokenId: 'tok_sandbox_ended_early', idempotencyKey: 'ended-early' }),
      await acme.hold({ tokenId: 'tok_sandbox_voided_elsewhere' }),
      await acme.hold({ tokenId: 'tok_sandbox_voided_elsewhere' }),
    ];
    await acme.capture(captured, 4_000n);
    stage.clock.advance(2_000);
    await stage.sandbox.reportDue();
    assert.equal(await acme.books(expired), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    assert.equal(await acme.books(voided), 'RELEASED 0/0/0/10000/0 RELEASED');
    assert.equal(await acme.books(captured), 'CAPTURED 4000/0/0/6000/0 RELEASED');
    assert.deepEqual(await stage.audit(), []);
    await stage.close();
  });
});
