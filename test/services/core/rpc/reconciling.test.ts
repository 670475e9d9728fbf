/**
 * While the database is being reconciled after it went back in time, nothing is said or ended that a lost operation
 * would contradict.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { watchDatabase } from '../../../../services/core/health/watch-database.ts';
import { inNameOf } from '../../../../services/core/storage/audit-log/actor.ts';
import { moveSequencesAhead, reconcilingSince } from '../../../../services/core/storage/reconciling.ts';
import { forSuite } from '../../../suite.ts';
import { decideAt } from '../reconciliation/decide.ts';
import { openMerchant, sql } from '../shop.ts';
import { contract, openStage, refusal, why } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';

describe('while the database is being reconciled', () => {
  const stage = forSuite(() => openStage({ second: 'b' }));
  const shop = forSuite(() => openMerchant(stage, 'acme', { processor: 'first' }));
  beginAnew(stage);

  /** What `npm run restored` does. */
  const restored = () => inNameOf('operator/ann', () => moveSequencesAhead(stage.database, new Date()));
  const isReconciling = async () => (await reconcilingSince(stage.database.query)) !== undefined;
  const paidAt = (oracle: typeof stage.oracle | undefined) =>
    oracle?.entries().filter(({ answer, kind }) => answer === 1 && kind !== 'void').length;

  it('a key that was lost charges nowhere else, although the contract has moved', async () => {
    await shop.hold();
    const keys = { hold: { idempotencyKey: randomUUID() }, oct: { idempotencyKey: randomUUID() } };
    const goBack = await rememberNow(stage);
    await shop.hold(keys.hold);
    await shop.oct(keys.oct);
    await goBack();
    const terms = { merchantId: 'acme', name: 'acme', contract: contract({ processor: 'b' }) };
    await stage.channel('operator').merchants.updateMerchant(terms);
    await restored();
    for (const again of [() => shop.place(keys.hold), () => shop.oct(keys.oct)]) {
      const { status, reason } = await refusal(again());
      assert.deepEqual([status, reason], ['UNAVAILABLE', 'RECONCILING']);
    }
    assert.deepEqual([paidAt(stage.oracle), paidAt(stage.second?.oracle)], [3, 0]);
    await decideAt(stage, { importing: ['all'] });
    assert.equal((await shop.place(keys.hold)).replayed, true);
    assert.equal((await shop.oct(keys.oct)).replayed, true);
    assert.deepEqual([paidAt(stage.oracle), paidAt(stage.second?.oracle)], [3, 0]);
    assert.deepEqual(await stage.audit(), []);
  });

  it('a requestId of before is not done again, and one of now is', async () => {
    const hold = await shop.hold();
    const before = uuidv7();
    await restored();
    const { reason } = await refusal(shop.capture(hold, 5n, { operationRequestId: before }));
    assert.equal(reason, 'RECONCILING');
    assert.equal(await why(shop.oct({ operationRequestId: before, currency: 'CHF' })), 'RECONCILING');
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    await shop.capture(hold, 5n, { operationRequestId: uuidv7() });
    await shop.oct();
  });

  it('what is not there is not said to be unknown', async () => {
    const merchantId = 'acme';
    const { holds, octs, operations } = stage.channel('gateway');
    const ask = [
      () => holds.getPreauthorization({ merchantId, requestId: randomUUID() }),
      () => shop.capture({ preauthorizationId: 'pre_lost' }, 5n),
      () => shop.release({ requestId: randomUUID() }),
      () => octs.getOct({ merchantId, requestId: randomUUID() }),
      () => operations.getOperation({ merchantId, requestId: randomUUID() }),
    ];
    await restored();
    for (const asked of ask) assert.equal(await why(asked()), 'RECONCILING');
    await decideAt(stage);
    for (const asked of ask) assert.match(await why(asked()), /NOT_FOUND$/);
  });

  it('a key that is known gets its first answer', async () => {
    const key = { idempotencyKey: randomUUID() };
    const { oct } = await shop.oct(key);
    await restored();
    const again = await shop.oct(key);
    assert.deepEqual([again.replayed, again.oct?.requestId], [true, oct?.requestId]);
    assert.equal(await why(shop.oct({ ...key, amount: 1n })), 'IDEMPOTENCY_KEY_REUSED');
  });

  it('no hold ends', async () => {
    const short = await openMerchant(stage, 'short', { processor: 'first', holdPeriod: { seconds: 60n } });
    const over = await short.hold();
    const ended = await shop.hold({ tokenId: 'tok_sandbox_ended_early' });
    const page = await shop.checkout();
    await restored();
    stage.clock.advance(3_600_000);
    await stage.sandbox.reportDue();
    await stage.expire();
    assert.match(await short.books(over), /^IN_PROGRESS/);
    assert.match(await shop.books(ended), /^IN_PROGRESS/);
    assert.match(await shop.books(page.preauthorization ?? assert.fail()), /^IN_PROGRESS AWAITING_CHECKOUT/);
    await decideAt(stage);
    await stage.expire();
    assert.match(await short.books(over), /^EXPIRED/);
    assert.match(await shop.books(ended), /^EXPIRED/);
  });

  it('a late authorization is not voided, but afterwards', async () => {
    const { preauthorization } = await shop.place({ tokenId: 'tok_sandbox_timeout_applied' });
    const { requestId } = preauthorization ?? assert.fail();
    await sql(stage, `update hold set phase = 'FAILED', status = 'FAILED', released = 0, remaining = 0`);
    const look = async () => {
      for (let looks = 0; looks < 4; looks++) {
        stage.clock.advance(60_000);
        await stage.inquire();
      }
    };
    await restored();
    await look();
    assert.equal(stage.oracle.find(requestId)?.voided, 0);
    await decideAt(stage);
    await look();
    assert.equal(stage.oracle.find(requestId)?.voided, 10_000);
  });

  it('begins at a new timeline, unless the standby was complete, and ends when nothing is unknown', async () => {
    const anotherTimeline = `update installation set timeline = '000000FF'`;
    const lines: string[] = [];
    const at = (level: string) => (event: string, fields?: { readonly state?: unknown }) =>
      void lines.push(`${level} ${event} ${fields?.state}`);
    const log = { info: at('info'), warn: at('warn'), error: at('error') };
    const notice = async (isStandbyComplete: boolean) => {
      const watch = await watchDatabase({ database: stage.database, log, isStandbyComplete, intervalMs: 3_600_000 });
      await watch.close();
    };
    await sql(stage, anotherTimeline);
    assert(await isReconciling(), 'before anybody has noticed');
    await notice(true);
    assert(!(await isReconciling()));
    await sql(stage, anotherTimeline);
    await notice(false);
    assert(await isReconciling());
    const noticed = lines.filter((line) => line.includes('timeline_new'));
    assert.deepEqual(noticed, ['warn timeline_new COMPLETE', 'error timeline_new RECONCILING']);
    await stage.database.query({ name: '', text: 'update installation set reconciling_since = null' }, []);
    await shop.hold();
    const goBack = await rememberNow(stage);
    await shop.oct();
    await goBack();
    await restored();
    assert.equal((await decideAt(stage)).left, 1);
    assert(await isReconciling(), 'something is unknown');
    assert.equal((await decideAt(stage, { importing: ['all'] })).left, 0);
    assert(!(await isReconciling()));
    const [entry] = await sql<{ actor: string }>(
      stage,
      `select actor from audit_entry where action = 'database.reconciled'`,
    );
    assert.equal(entry?.actor, 'operator/ann');
  });
});
