/** Recovery against the real sandbox: lost answers, and a core that dies at each named point. */
import assert from 'node:assert/strict';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { CRASH_POINTS, type CrashPoint } from '../../../../services/core/crash-points.ts';
import { inquire } from '../../../../services/core/jobs/inquire.ts';
import type { InquiryAnswer } from '../../../../services/core/processor/processor.ts';
import { type Desk, openDesk, openMerchant, sql } from '../desk.ts';
import { openStage, refusal, type Stage } from '../stage.ts';

describe('inquire()', function () {
  this.timeout(60_000);
  let stage: Stage;
  let desk: Desk;
  let elsewhere: Desk;
  let dying: CrashPoint | undefined;
  const died = new Set<CrashPoint>();

  before(async () => {
    const reach = (point: CrashPoint) => {
      if (point !== dying) return;
      dying = undefined;
      died.add(point);
      throw new Error('died here');
    };
    stage = await openStage({ cores: 2, processorTimeoutMs: 1_000, reach });
    desk = await openMerchant(stage, 'acme');
    elsewhere = openDesk(stage, 'acme', 1);
  });
  after(() => stage.close());

  /** Everything that is open is settled. */
  const recover = async () => {
    for (let times = 0; times < 4; times++) {
      stage.clock.advance(61_000);
      await stage.sandbox.reportDue();
      while ((await stage.inquire()) > 0);
      while ((await stage.expire()) > 0);
    }
  };
  /** Books of core and of the sandbox agree, and every result was told once. */
  const reconciled = async (requestId: string) => {
    const hold = await desk.get({ requestId });
    const entry = stage.oracle.find(requestId);
    assert.equal(hold.amountInFlight, 0n);
    assert.equal(Number(hold.amountCaptured), entry?.captured ?? 0);
    const [twice] = await sql(stage, 'select request_id from operation group by 1 having count(*) > 1');
    assert.equal(twice, undefined);
  };

  describe('settles what the sandbox did not answer', () => {
    it('all at once, each as the sandbox has it', async () => {
      const tokens = ['applied', 'lost'] as const;
      const holds = await Promise.all(tokens.map((word) => desk.place({ tokenId: `tok_sandbox_timeout_${word}` })));
      const octs = await Promise.all(tokens.map((word) => desk.oct({ tokenId: `tok_sandbox_timeout_${word}` })));
      const captures = await Promise.all(
        tokens.map(async (word) => {
          const hold = await desk.hold({ tokenId: `tok_sandbox_capture_timeout_${word}` });
          return { hold, answer: await desk.capture(hold, 4_000n) };
        }),
      );
      for (const { state } of holds) assert.equal(state, OperationState.UNKNOWN);
      for (const { oct } of octs) assert.equal(oct?.state, OperationState.UNKNOWN);
      for (const { answer } of captures) assert.equal(answer.capture?.state, OperationState.UNKNOWN);
      await recover();
      const states = await Promise.all(
        octs.map(async ({ oct }) => (await desk.getOct(oct?.requestId ?? '')).oct?.state),
      );
      assert.deepEqual(states, [OperationState.OK, OperationState.KO]);
      const books = await Promise.all(
        holds.map(({ preauthorization }) => desk.books(preauthorization ?? assert.fail())),
      );
      assert.deepEqual(books, ['IN_PROGRESS 0/0/10000/0/0', 'FAILED FAILED 0/0/0/10000/0']);
      assert.deepEqual(await Promise.all(captures.map(({ hold }) => desk.books(hold))), [
        'PARTIALLY_CAPTURED 4000/0/6000/0/0',
        'IN_PROGRESS 0/0/10000/0/0',
      ]);
      for (const { hold } of captures) await reconciled(hold.requestId);
      const [placed] = holds;
      await desk.capture(await desk.get(placed?.preauthorization ?? assert.fail()), 1n);
    });
  });

  describe('takes over where a core died', () => {
    /** What runs into each point; answers the hold or OCT and how a repetition under the same key is answered at last. */
    const WAYS: Record<CrashPoint, { at: () => Promise<Run>; ends: string; repeats: string }> = {
      'hold stored': { at: placing, ends: 'FAILED FAILED 0/0/0/10000/0', repeats: 'PROCESSOR_ERROR' },
      'hold answered': { at: placing, ends: 'IN_PROGRESS 0/0/10000/0/0', repeats: 'OK' },
      'checkout opened': { at: opening, ends: 'IN_PROGRESS AWAITING_CHECKOUT 0/0/10000/0/0', repeats: 'PENDING' },
      'capture reserved': { at: capturing, ends: 'IN_PROGRESS 0/0/10000/0/0', repeats: 'PROCESSOR_ERROR' },
      'capture answered': { at: capturing, ends: 'PARTIALLY_CAPTURED 4000/0/6000/0/0', repeats: 'OK' },
      'release reserved': { at: releasing, ends: 'IN_PROGRESS 0/0/10000/0/0', repeats: 'PROCESSOR_ERROR' },
      'release answered': { at: releasing, ends: 'RELEASED 0/0/0/10000/0 RELEASED', repeats: 'OK' },
      'expiry reserved': { at: expiring, ends: 'EXPIRED 0/0/0/10000/0 EXPIRED', repeats: '' },
      'expiry answered': { at: expiring, ends: 'EXPIRED 0/0/0/10000/0 EXPIRED', repeats: '' },
      'oct stored': { at: paying, ends: 'KO', repeats: 'PROCESSOR_ERROR' },
      'oct answered': { at: paying, ends: 'OK', repeats: 'OK' },
    };
    interface Run {
      readonly call: (at: Desk) => Promise<unknown>;
      readonly requestId?: string;
    }
    let key = 0;
    const newKey = () => ({ idempotencyKey: `crash-${key++}` });

    async function placing(): Promise<Run> {
      const fields = newKey();
      return { call: (at) => at.place(fields) };
    }
    async function opening(): Promise<Run> {
      const fields = newKey();
      return { call: (at) => at.checkout(fields) };
    }
    async function capturing(): Promise<Run> {
      const [hold, fields] = [await desk.hold(), newKey()];
      return { call: (at) => at.capture(hold, 4_000n, fields), requestId: hold.requestId };
    }
    async function releasing(): Promise<Run> {
      const [hold, fields] = [await desk.hold(), newKey()];
      return { call: (at) => at.release(hold, fields), requestId: hold.requestId };
    }
    async function expiring(): Promise<Run> {
      const hold = await desk.hold({ tokenId: 'tok_sandbox_expires_2s' });
      stage.clock.advance(2_000);
      return { call: () => stage.expire(), requestId: hold.requestId };
    }
    async function paying(): Promise<Run> {
      const fields = newKey();
      return { call: (at) => at.oct(fields) };
    }
    const newest = async (table: 'hold' | 'oct') =>
      (await sql<{ id: string }>(stage, `select max(request_id::text) as id from ${table}`))[0]?.id ?? '';
    const word = async (call: Promise<unknown>): Promise<string> => {
      const answer = (await call.catch(async (error) => ({
        refused: (await refusal(Promise.reject(error))).reason,
      }))) as {
        refused?: string;
        state?: OperationState;
        capture?: { state: OperationState };
        oct?: { state: OperationState };
      };
      const state = answer.state ?? answer.capture?.state ?? answer.oct?.state;
      return answer.refused ?? OperationState[state ?? 0] ?? '';
    };

    for (const point of CRASH_POINTS) {
      it(`at '${point}'`, async () => {
        const { at, ends, repeats } = WAYS[point];
        const { call, requestId } = await at();
        dying = point;
        if (point.startsWith('expiry')) await assert.rejects(call(desk));
        else assert.equal(await word(call(desk)), 'UNKNOWN', 'the operation is stored, so no refusal may be answered');
        assert(died.has(point));
        const isOct = point.startsWith('oct');
        const about = requestId ?? (await newest(isOct ? 'oct' : 'hold'));
        if (repeats !== '') assert.equal(await word(call(elsewhere)), 'IDEMPOTENCY_IN_FLIGHT');
        await recover();
        if (isOct) assert.equal(OperationState[(await desk.getOct(about)).oct?.state ?? 0], ends);
        else {
          assert.equal(await desk.books({ requestId: about }), ends);
          await reconciled(about);
        }
        for (const each of repeats === '' ? [] : [desk, elsewhere]) assert.equal(await word(call(each)), repeats);
      });
    }
  });

  it('asks once while the answer may still come', async () => {
    await recover();
    await desk.oct({ tokenId: 'tok_sandbox_timeout_lost' });
    const [asked, late] = [Promise.withResolvers<void>(), Promise.withResolvers<InquiryAnswer>()];
    let count = 0;
    const ask = () => {
      asked.resolve();
      return ++count === 1 ? late.promise : Promise.resolve<InquiryAnswer>({ found: 'AT_WORK' });
    };
    const processor = { ...stage.recovery.processor, timeoutMs: 60_000, inquire: ask };
    stage.clock.advance(2_000);
    const first = inquire({ ...stage.recovery, processor });
    await asked.promise;
    stage.clock.advance(61_000);
    await inquire({ ...stage.recovery, processor });
    late.resolve({ found: 'AT_WORK' });
    await first;
    assert.equal(count, 1);
    await recover();
  });
});
