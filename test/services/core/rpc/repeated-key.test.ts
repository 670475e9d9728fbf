/** An Idempotency-Key that is repeated after the database went back in time returns what the processor did before. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { OperatorService } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { openPurge } from '../../../../services/core/storage/purge.ts';
import { forSuite } from '../../../suite.ts';
import { approved, done, notPerformed } from '../fake-processor.ts';
import { useScriptedStage } from '../scripted-stage.ts';
import { openMerchant, payAt, sql } from '../shop.ts';
import { openStage, refusal, type Stage, why } from '../stage.ts';

const TABLES = ['hold', 'submission', 'operation'] as const;

/** Removes some of a merchant's operations from the database, as a restore does. */
async function forget(stage: Stage, ...requestIds: string[]): Promise<void> {
  for (const table of [...TABLES, 'claim']) {
    await sql(stage, `delete from ${table} where request_id = any($1::uuid[])`, [requestIds]);
  }
  await sql(stage, 'delete from delivery where request_id = any($1)', [requestIds]);
}

describe('a repeated idempotency key', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme'));

  const oct = (idempotencyKey: string, fields: object = {}) => shop.oct({ idempotencyKey, ...fields });
  const identifierOf = async (requestId: string) => {
    const unions = ['hold', 'submission'].map(
      (table) => `select coalesce(processor_request_id, request_id) as id from ${table} where request_id = $1`,
    );
    const [row] = await sql<{ id: string }>(stage, unions.join(' union all '), [requestId]);
    return row?.id ?? '';
  };
  const charged = () => stage.oracle.entries().filter(({ answer }) => answer === 1).length;

  it("charges nothing again after a restore, whatever the kind, and returns the processor's result", async () => {
    const keys = { hold: randomUUID(), capture: randomUUID(), release: randomUUID(), oct: randomUUID() };
    const kept = await shop.hold();
    const play = async () => {
      const hold = await shop.hold({ idempotencyKey: keys.hold });
      const { capture } = await shop.capture(hold, 100n, { idempotencyKey: keys.capture });
      const release = await shop.release(kept, { idempotencyKey: keys.release });
      const paid = await oct(keys.oct);
      assert.equal(capture?.state, OperationState.OK);
      assert.equal(release.state, OperationState.OK);
      assert.equal(paid.oct?.state, OperationState.OK);
      return [hold.requestId, capture.requestId, release.requestId, paid.oct.requestId];
    };
    const first = await play();
    const before = charged();
    const sent = await Promise.all(first.map(identifierOf));
    assert(sent.every((id) => /^.{14}8.{4}a/.test(id)));
    await forget(stage, ...first);
    await sql(
      stage,
      `update hold set status = 'IN_PROGRESS', remaining = amount, released = 0, release_reason = null,
        closed_at = null where request_id = $1`,
      [kept.requestId],
    );
    const second = await play();
    assert.equal(charged(), before);
    assert.deepEqual(await Promise.all(second.map(identifierOf)), sent);
    assert(second.every((id) => !first.includes(id)));
  });

  it('is refused with other fields, and the refusal is stored', async () => {
    const key = randomUUID();
    const first = await oct(key);
    await forget(stage, first.oct?.requestId ?? '');
    const before = charged();
    const { reason, metadata } = await refusal(oct(key, { amount: 701n }));
    assert.equal(reason, 'IDEMPOTENCY_KEY_REUSED');
    assert.equal(charged(), before);
    assert.deepEqual(await shop.results({ requestId: metadata.requestId ?? '' }), ['failed']);
    const again = await refusal(oct(key, { amount: 701n }));
    assert.deepEqual([again.reason, again.metadata.requestId], ['IDEMPOTENCY_KEY_REUSED', metadata.requestId]);
  });

  it('is a new request once its key was purged, also when the new operation is lost later', async () => {
    const key = randomUUID();
    const first = await oct(key);
    stage.clock.advance(8 * 24 * 3_600_000);
    await openPurge(stage.database, { notifications: 90, operations: 400 })(new Date(stage.clock.now()));
    const before = charged();
    const second = await oct(key);
    assert.equal(charged(), before + 1);
    assert.equal(second.replayed, false);
    const [one, two] = [first.oct?.requestId ?? '', second.oct?.requestId ?? ''];
    const sent = await identifierOf(two);
    assert.notEqual(await identifierOf(one), sent);
    await forget(stage, two);
    const third = await oct(key);
    assert.equal(charged(), before + 1);
    assert.equal(await identifierOf(third.oct?.requestId ?? ''), sent);
  });

  it('returns the operation that has its identifier when only the key is lost', async () => {
    const key = randomUUID();
    const hold = await shop.hold({ idempotencyKey: key });
    const captureKey = randomUUID();
    const { capture } = await shop.capture(hold, 10n, { idempotencyKey: captureKey });
    const releaseKey = randomUUID();
    const released = await shop.hold();
    const release = await shop.release(released, { idempotencyKey: releaseKey });
    await sql(stage, 'update claim set key = null');
    const again = await shop.place({ idempotencyKey: key });
    assert.deepEqual([again.preauthorization?.requestId, again.replayed], [hold.requestId, true]);
    const capturedAgain = await shop.capture(hold, 10n, { idempotencyKey: captureKey });
    assert.deepEqual([capturedAgain.capture?.requestId, capturedAgain.replayed], [capture?.requestId, true]);
    const releasedAgain = await shop.release(released, { idempotencyKey: releaseKey });
    assert.deepEqual([releasedAgain.requestId, releasedAgain.replayed], [release.requestId, true]);
    for (const call of [
      () => shop.place({ idempotencyKey: key, amount: 9_999n }),
      () => shop.place({ idempotencyKey: key, terminalId: 'T2' }),
      () => shop.capture(hold, 11n, { idempotencyKey: captureKey }),
      () => shop.release(hold, { idempotencyKey: releaseKey }),
    ]) {
      assert.equal(await why(call()), 'IDEMPOTENCY_KEY_REUSED');
    }
  });

  it('has a different identifier for another merchant, method or key', async () => {
    const other = await openMerchant(stage, 'other');
    const key = randomUUID();
    const hold = await shop.hold({ idempotencyKey: key });
    const theirs = await other.hold({ idempotencyKey: key });
    const { oct: own } = await other.oct({ idempotencyKey: `${key}x` });
    const sent = await Promise.all([hold.requestId, theirs.requestId, own?.requestId ?? ''].map(identifierOf));
    assert.equal(new Set(sent).size, 3);
  });

  it('is sent under the requestId without a key', async () => {
    const { requestId } = await shop.hold();
    assert.equal(await identifierOf(requestId), requestId);
  });

  it('has an identifier of its own for a checkout, too, which the customer completes', async () => {
    const { preauthorization } = await shop.checkout({ idempotencyKey: randomUUID() });
    assert(preauthorization);
    assert.notEqual(await identifierOf(preauthorization.requestId), preauthorization.requestId);
    assert.equal(await payAt(preauthorization.checkoutUrl), 303);
    assert.equal(await shop.books(preauthorization), 'IN_PROGRESS 0/0/10000/0/0');
  });

  describe('whose answer is lost', () => {
    const { scripted } = useScriptedStage();

    const lose = async () => {
      scripted.processor.says = {};
      const { oct: open } = await scripted.shop.oct({ idempotencyKey: randomUUID() });
      assert.equal(open?.state, OperationState.UNKNOWN);
      const [row] = await sql<{ id: string }>(
        scripted.stage,
        'select processor_request_id as id from submission where request_id = $1',
        [open.requestId],
      );
      return { requestId: open.requestId, identifier: row?.id ?? '' };
    };

    it('is not settled by the result of another operation under its identifier', async () => {
      for (const by of ['inquiry', 'event'] as const) {
        const { requestId, identifier } = await lose();
        scripted.processor.says = { inquire: () => done(approved), credit: () => notPerformed('identifier_reused') };
        if (by === 'inquiry') await scripted.inquireLater();
        else await scripted.settled(identifier, approved);
        assert.equal(await scripted.stateOf(requestId), OperationState.KO);
      }
    });

    it('is shown to operators with the identifier that the processor knows, and can be found by it', async () => {
      const { requestId, identifier } = await lose();
      const operators = scripted.stage.client('operator', OperatorService);
      const { items } = await operators.listReviewItems({});
      assert.equal(items.find((item) => item.requestId === requestId)?.processorRequestId, identifier);
      const { matches } = await operators.listMatches({ text: identifier });
      assert.deepEqual(
        matches.map((match) => match.requestId),
        [requestId],
      );
    });

    it('is settled when the processor confirms the result, and not before', async () => {
      const { requestId, identifier } = await lose();
      scripted.processor.says = { inquire: () => done(approved) };
      await scripted.inquireLater();
      assert.equal(await why(scripted.settled(identifier, approved)), 'UNAVAILABLE');
      assert.equal(await scripted.stateOf(requestId), OperationState.UNKNOWN);
      scripted.processor.says = { inquire: () => done(approved), credit: () => approved };
      await scripted.inquireLater();
      assert.equal(await scripted.stateOf(requestId), OperationState.OK);
    });
  });
});
