/** What cannot be ended is put off, seen and decided, and delays nothing else. */
import assert from 'node:assert/strict';
import { Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperatorService, ReviewReason } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { openProcessors, processorsOf, rowsByProcessor } from '../../../../services/core/processor/processors.ts';
import { expiries } from '../../../../services/core/recovery/due-holds.ts';
import { checkoutExpiries } from '../../../../services/core/recovery/inquire-open.ts';
import { workLoop } from '../../../../services/core/recovery/work-loop.ts';
import { approved, atWork, done, notPerformed } from '../fake-processor.ts';
import { useScriptedStage } from '../scripted-stage.ts';
import { sql } from '../shop.ts';
import { why } from '../stage.ts';
import { workOnce } from '../work-once.ts';

const HOUR_MS = 3_600_000;

describe('a submission that cannot be settled', () => {
  const { scripted, shop, processor } = useScriptedStage();
  beforeEach(() => {
    processor.says = { ...processor.says, createCheckout: () => ({ checkoutUrl: 'https://pay.example/1' }) };
  });

  const expireLater = () => {
    scripted.stage.clock.advance(HOUR_MS);
    return scripted.stage.expire();
  };
  const openCheckout = async () => (await shop.checkout()).preauthorization ?? assert.fail();
  const stateOf = async (table: string, id: string, column = 'state') =>
    (
      await sql<{ state: string }>(scripted.stage, `select ${column} as state from ${table} where request_id = $1`, [
        id,
      ])
    )[0]?.state;

  it('is unknown and counted as soon as recovery has taken it: core died during the call', async () => {
    const hold = await shop.hold();
    processor.says.capture = () => undefined;
    const { capture } = await shop.capture(hold, 1_000n);
    const { requestId = '' } = capture ?? {};
    const died = `update submission set state = 'PENDING' where request_id = $1`;
    await sql(scripted.stage, died, [requestId]);
    await scripted.inquireLater();
    assert.equal(await stateOf('submission', requestId), 'UNKNOWN');
    const operators = scripted.stage.client('operator', OperatorService);
    const { items } = await operators.listReviewItems({ merchantId: 'acme', reason: ReviewReason.UNKNOWN });
    assert(items.some((item) => item.requestId === requestId));
    const decision = { outcome: OperationState.KO, reason: 'their support says so', unfenced: true };
    assert.equal((await operators.resolveOperation({ requestId, ...decision })).operation?.state, OperationState.KO);
  });

  it('delays nothing that is due behind it, however many there are', async () => {
    const stuck = await Promise.all(Array.from({ length: 70 }, openCheckout));
    const ids = stuck.map(({ requestId }) => requestId);
    processor.says.inquire = ({ requestId }) => (ids.includes(requestId) ? undefined : atWork);
    scripted.stage.clock.advance(HOUR_MS);
    const later = await openCheckout();
    const held = await shop.hold();
    scripted.stage.clock.advance(8 * 24 * HOUR_MS);
    for (let times = 0; times < 2; times++) await scripted.stage.expire();
    assert.equal(await shop.books(later), 'FAILED FAILED 0/0/0/0/0');
    assert.equal(await shop.books(held), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    assert.equal(await scripted.stage.expire(), 0, 'they are put off');
    for (let hour = 0; hour < 40; hour++) await expireLater();
    for (const id of ids) assert.equal(await stateOf('hold', id, 'phase'), 'NEEDS_REVIEW');
  });

  it('is left out of the search for others when its expiry fails', async () => {
    const broken: string[] = [];
    for (let count = 0; count < 3; count++) broken.push((await shop.hold()).requestId);
    scripted.stage.clock.advance(1_000);
    const sound = await shop.hold();
    scripted.stage.clock.advance(8 * 24 * HOUR_MS);
    const { recovery, clock } = scripted.stage;
    const expired = Promise.withResolvers<void>();
    // Room for one, so the oldest would stand before all others for ever.
    const work = { ...expiries(recovery), slots: 2, intervalMs: 1 };
    const loop = workLoop(
      {
        ...work,
        async handle(hold) {
          if (broken.includes(hold.requestId)) throw new Error('broken');
          await work.handle(hold);
          if (hold.requestId === sound.requestId) expired.resolve();
        },
      },
      recovery.log,
      () => new Date(clock.now()),
    );
    await expired.promise;
    await loop.close();
    assert.equal(await shop.books(sound), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    await scripted.stage.expire();
  });

  it('has a queue of its own when its processor is gone', async () => {
    const hold = await openCheckout();
    const others = { ...scripted.stage.settings, PROCESSOR_URL: undefined };
    const processors = openProcessors({ ...others, PROCESSORS: [{ name: 'added', address: processor.address }] });
    await sql(scripted.stage, `update hold set processor = 'removed' where request_id = $1`, [hold.requestId]);
    scripted.stage.clock.advance(HOUR_MS);
    const recovery = { ...scripted.stage.recovery, processors };
    const [added, gone] = rowsByProcessor(processors);
    const taken = async (at: typeof added) =>
      (await checkoutExpiries(recovery, at).find({ limit: 1_000, but: [] })).map((due) => due.requestId);
    assert(!(await taken(added)).includes(hold.requestId));
    assert((await taken(gone)).includes(hold.requestId));
    await workOnce(checkoutExpiries(recovery, gone));
    processors.close();
    const released = await shop.release(hold);
    assert.equal(released.state, OperationState.UNKNOWN);
    const operators = scripted.stage.client('operator', OperatorService);
    const decision = { outcome: OperationState.OK, reason: 'their contract is over', unfenced: true };
    await operators.resolveOperation({ requestId: released.requestId, ...decision });
    assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0');
  });

  it('ends at its end, when it is a checkout that an adapter without fencing has lost', async () => {
    processor.says.inquire = () => ({ finding: Finding.NEVER_SEEN, fenced: false });
    processor.says.void = () => notPerformed('authorization_not_found');
    const hold = await openCheckout();
    await expireLater();
    assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0');
  });

  it('ends by its void when it is a checkout that was cancelled during its last inquiry', async () => {
    const hold = await openCheckout();
    await sql(scripted.stage, 'update hold set inquiry_count = 20 where request_id = $1', [hold.requestId]);
    scripted.stage.clock.advance(HOUR_MS);
    processor.says.void = () => undefined;
    const { recovery } = scripted.stage;
    const inquire = async () => {
      assert.equal((await shop.release(hold)).state, OperationState.UNKNOWN);
      return { found: 'NO_ANSWER' } as const;
    };
    const only = { ...recovery.processors.of({ processor: 'default' }), inquire };
    await workOnce(checkoutExpiries({ ...recovery, processors: processorsOf([['default', only]]) }));
    processor.says.inquire = () => done(approved);
    await scripted.inquireLater();
    assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0');
  });

  it('is put off when it is a checkout that runs out while the database is being reconciled', async () => {
    const hold = await openCheckout();
    processor.says.inquire = () => undefined;
    await sql(scripted.stage, 'update installation set reconciling_since = now()');
    await scripted.inquireLater(HOUR_MS);
    assert(processor.heard.some(({ method, requestId }) => method === 'inquire' && requestId === hold.requestId));
    assert.equal(await scripted.stage.inquire(), 0);
    await sql(scripted.stage, 'update installation set reconciling_since = null');
  });

  it('ends by an operator when its page is over and nobody answers', async () => {
    const operators = scripted.stage.client('operator', OperatorService);
    const { requestId } = await openCheckout();
    processor.says.inquire = () => undefined;
    const decision = { requestId, outcome: OperationState.KO, reason: 'their support says so', unfenced: true };
    assert.equal(await why(operators.resolveOperation(decision)), 'INVALID_REQUEST');
    await expireLater();
    await operators.resolveOperation(decision);
    assert.equal(await shop.books({ requestId }), 'FAILED FAILED 0/0/0/0/0');
    processor.says.inquire = () => ({ finding: Finding.DONE, result: approved });
    await scripted.settled(requestId, approved);
    const [row] = await sql<{ kind: string }>(
      scripted.stage,
      'select kind from submission where hold_request_id = $1',
      [requestId],
    );
    assert.equal(row?.kind, 'LATE_VOID', 'what the customer paid after all is given back');
    await sql(scripted.stage, "update submission set state = 'UNKNOWN', final_at = null where kind = 'LATE_VOID'");
    assert.deepEqual(await scripted.stage.audit('own books'), [], 'it does not end the hold, which has failed');
  });

  it('comes to review when looking at it fails', async () => {
    const hold = await shop.hold();
    processor.says.capture = () => undefined;
    const { capture } = await shop.capture(hold, 1_000n);
    const { requestId = '' } = capture ?? {};
    const refuses = `alter table submission add constraint broken check (bank_reference is distinct from 'broken')`;
    await sql(scripted.stage, refuses);
    processor.says.inquire = () => ({ finding: Finding.DONE, result: { ...approved, bankReference: 'broken' } });
    for (let hour = 0; hour < 40; hour++) await scripted.inquireLater(HOUR_MS).catch(() => undefined);
    assert.equal(await stateOf('submission', requestId), 'NEEDS_REVIEW');
    await sql(scripted.stage, 'alter table submission drop constraint broken');
  });
});
