/** Results that contradict stored ones, and authorizations for holds that have already failed. */
import assert from 'node:assert/strict';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { inquiries } from '../../../../services/core/recovery/inquire-open.ts';
import { approved, declined, neverSeen, notPerformed } from '../fake-processor.ts';
import { useScriptedStage } from '../scripted-stage.ts';
import { sql } from '../shop.ts';
import { refusal, why } from '../stage.ts';
import { workOnce } from '../work-once.ts';

describe('end()', () => {
  const { scripted, shop, processor } = useScriptedStage();

  describe('an answer after its event', () => {
    it('is returned as the event said when both agree', async () => {
      processor.says.authorize = async ({ requestId }) => {
        await scripted.settled(requestId, approved);
        return approved;
      };
      const hold = await shop.hold();
      assert.match(hold.preauthorizationId, /^pre_/);
      assert.equal(await scripted.countOf(hold.requestId), 1);
      processor.says.capture = async ({ requestId }) => {
        await scripted.settled(requestId, declined);
        return declined;
      };
      assert.equal(await why(shop.capture(hold, 1n)), 'CARD_DECLINED');
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    });

    it('changes nothing when it contradicts the event, and freezes the hold', async () => {
      const hold = await shop.hold();
      processor.says.capture = async ({ requestId }) => {
        await scripted.settled(requestId, declined);
        return approved;
      };
      assert.equal(await why(shop.capture(hold, 4_000n)), 'CARD_DECLINED');
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
      const other = await shop.hold();
      processor.says.void = async ({ requestId }) => {
        await scripted.settled(requestId, approved);
        return declined;
      };
      assert.equal((await shop.release(other)).state, OperationState.OK);
      assert.equal(await shop.books(other), 'RELEASED 0/0/0/10000/0 RELEASED frozen');
      processor.says.credit = async ({ requestId }) => {
        await scripted.settled(requestId, approved);
        return declined;
      };
      assert.equal((await shop.oct()).oct?.state, OperationState.OK);
    });

    it('is voided when it places a hold that has failed meanwhile', async () => {
      let requestId = '';
      processor.says.authorize = async (request) => {
        ({ requestId } = request);
        await scripted.settled(requestId, declined);
        return approved;
      };
      assert.equal(await why(shop.place()), 'CARD_DECLINED');
      await scripted.stage.inquire();
      assert.deepEqual(
        processor.heard.filter(({ method }) => method === 'void').map((each) => each.authorizationRequestId),
        [requestId],
      );
    });
  });

  describe('an event that contradicts a stored result', () => {
    it('freezes a placed hold: no capture, no release', async () => {
      const hold = await shop.hold();
      await scripted.settled(hold.requestId, declined);
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
      assert.equal(await why(shop.capture(hold, 1n)), 'HOLD_FROZEN');
      assert.equal(await why(shop.release(hold)), 'HOLD_FROZEN');
      assert.equal(await scripted.countOf(hold.requestId), 1);
    });

    it('freezes what remains after a capture that was OK, or KO', async () => {
      const hold = await shop.hold();
      const { capture } = await shop.capture(hold, 4_000n);
      await scripted.settled(capture?.requestId ?? '', declined);
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/0 frozen');
      const second = await shop.hold();
      processor.says.capture = () => declined;
      const { metadata } = await refusal(shop.capture(second, 4_000n));
      await scripted.settled(metadata.requestId ?? '', approved);
      assert.equal(await shop.books(second), 'IN_PROGRESS 0/0/10000/0/0 frozen');
    });

    it('freezes the hold when a KO capture is reversed', async () => {
      const hold = await shop.hold();
      processor.says.capture = () => declined;
      const { metadata } = await refusal(shop.capture(hold, 4_000n));
      const value = { captureRequestId: metadata.requestId ?? '', amount: 4_000n, reference: 'rev' };
      await scripted.report({ case: 'captureReversed', value });
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
    });

    it('changes nothing when it agrees', async () => {
      const hold = await shop.hold();
      await scripted.settled(hold.requestId, approved);
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    });
  });

  describe('an authorization for a hold that has failed', () => {
    const failed = async () => {
      processor.says.authorize = () => declined;
      const { metadata } = await refusal(shop.place());
      return metadata.requestId ?? '';
    };
    const voids = (requestId: string) =>
      processor.heard.filter((call) => call.method === 'void' && call.authorizationRequestId === requestId);

    it('is voided once, and the hold stays failed', async () => {
      const requestId = await failed();
      await scripted.settled(requestId, approved);
      await scripted.settled(requestId, approved);
      await scripted.inquireLater();
      await scripted.inquireLater();
      assert.equal(voids(requestId).length, 1);
      assert.equal(await shop.books({ requestId }), 'FAILED FAILED 0/0/0/0/0');
      assert.equal(await scripted.countOf(requestId), 1);
    });

    it('is voided although the void or its answer is lost', async () => {
      const requestId = await failed();
      processor.says.void = () => undefined;
      processor.says.inquire = () => neverSeen;
      await scripted.settled(requestId, approved);
      await scripted.inquireLater();
      await scripted.inquireLater();
      processor.says.void = () => approved;
      await scripted.inquireLater();
      const [first, second, ...more] = voids(requestId);
      assert(first && second && more.length === 0);
      assert.notEqual(first.requestId, second.requestId);
      const open = await sql(
        scripted.stage,
        `select 1 from submission where hold_request_id = $1 and state <> 'OK' and state <> 'KO'`,
        [requestId],
      );
      assert.equal(open.length, 0);
    });

    it('is voided although a worker fails between the end of a lost void and the next one', async () => {
      const requestId = await failed();
      processor.says.void = () => undefined;
      processor.says.inquire = () => neverSeen;
      await scripted.settled(requestId, approved);
      await scripted.inquireLater();
      const { recovery, clock } = scripted.stage;
      const store = () => Promise.reject(new Error('the database is away'));
      clock.advance(60_000);
      await assert.rejects(workOnce(inquiries({ ...recovery, books: { ...recovery.books, store } })));
      processor.says.void = () => approved;
      for (let times = 0; times < 2; times++) await scripted.inquireLater();
      assert.equal(voids(requestId).length, 2);
    });

    it('is voided after the database was reconciled, however long that took', async () => {
      const requestId = await failed();
      await sql(scripted.stage, 'update installation set reconciling_since = now()');
      await scripted.settled(requestId, approved);
      for (let hours = 0; hours < 48; hours++) await scripted.inquireLater(3_600_000);
      assert.equal(voids(requestId).length, 0);
      await sql(scripted.stage, 'update installation set reconciling_since = null');
      await scripted.inquireLater();
      assert.equal(voids(requestId).length, 1);
    });

    it('needs review when the processor refuses the void', async () => {
      const requestId = await failed();
      processor.says.void = () => notPerformed('not_today');
      await scripted.settled(requestId, approved);
      await scripted.inquireLater();
      const [release] = await sql<{ state: string }>(
        scripted.stage,
        'select state from submission where hold_request_id = $1',
        [requestId],
      );
      assert.equal(release?.state, 'NEEDS_REVIEW');
    });
  });
});
