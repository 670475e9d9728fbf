/** Recovery against the real sandbox: lost answers, and a core that dies at each named point. */
import assert from 'node:assert/strict';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { CRASH_POINTS } from '../../../../services/core/domain/crash-points.ts';
import type { InquiryAnswer } from '../../../../services/core/processor/processor.ts';
import { processorsOf } from '../../../../services/core/processor/processors.ts';
import { inquiries } from '../../../../services/core/recovery/inquire-open.ts';
import { openPool } from '../../../../services/core/storage/open-pool.ts';
import { forSuite } from '../../../suite.ts';
import { RUNS } from '../kinds/samples.ts';
import { openMerchant, openShop, sql } from '../shop.ts';
import { useMortalStage, why } from '../stage.ts';
import { workOnce } from '../work-once.ts';

describe('inquiries()', () => {
  const { stage, crash } = useMortalStage();
  const shop = forSuite(() => openMerchant(stage, 'acme'));
  const elsewhere = forSuite(() => openShop(stage, 'acme', 1));

  /** Waits until everything is settled. */
  const recover = async () => {
    for (let times = 0; times < 4; times++) {
      stage.clock.advance(61_000);
      await stage.sandbox.reportDue();
      while ((await stage.inquire()) > 0);
      while ((await stage.expire()) > 0);
    }
  };
  /** Asserts that the books of core and sandbox agree, and that every result was notified once. */
  const reconciled = async (requestId: string) => {
    const hold = await shop.get({ requestId });
    const entry = stage.oracle.find(requestId);
    assert.equal(hold.amountInFlight, 0n);
    assert.equal(Number(hold.amountCaptured), entry?.captured ?? 0);
    const [twice] = await sql(stage, 'select request_id from operation group by 1 having count(*) > 1');
    assert.equal(twice, undefined);
  };

  describe('settles what the sandbox did not answer', () => {
    it("all at once, each with the sandbox's result", async () => {
      const tokens = ['applied', 'lost'] as const;
      const holds = await Promise.all(tokens.map((word) => shop.place({ tokenId: `tok_sandbox_timeout_${word}` })));
      const octs = await Promise.all(tokens.map((word) => shop.oct({ tokenId: `tok_sandbox_timeout_${word}` })));
      const captures = await Promise.all(
        tokens.map(async (word) => {
          const hold = await shop.hold({ tokenId: `tok_sandbox_capture_timeout_${word}` });
          return { hold, answer: await shop.capture(hold, 4_000n) };
        }),
      );
      for (const { state } of holds) assert.equal(state, OperationState.UNKNOWN);
      for (const { oct } of octs) assert.equal(oct?.state, OperationState.UNKNOWN);
      for (const { answer } of captures) assert.equal(answer.capture?.state, OperationState.UNKNOWN);
      await recover();
      const states = await Promise.all(
        octs.map(async ({ oct }) => (await shop.getOct(oct?.requestId ?? '')).oct?.state),
      );
      assert.deepEqual(states, [OperationState.OK, OperationState.KO]);
      const books = await Promise.all(
        holds.map(({ preauthorization }) => shop.books(preauthorization ?? assert.fail())),
      );
      assert.deepEqual(books, ['IN_PROGRESS 0/0/10000/0/0', 'FAILED FAILED 0/0/0/0/0']);
      assert.deepEqual(await Promise.all(captures.map(({ hold }) => shop.books(hold))), [
        'PARTIALLY_CAPTURED 4000/0/6000/0/0',
        'IN_PROGRESS 0/0/10000/0/0',
      ]);
      for (const { hold } of captures) await reconciled(hold.requestId);
      const [placed] = holds;
      await shop.capture(await shop.get(placed?.preauthorization ?? assert.fail()), 1n);
    });
  });

  describe('continues after a core has died', () => {
    const newest = async (table: 'hold' | 'submission') =>
      (await sql<{ id: string }>(stage, `select max(request_id::text) as id from ${table}`))[0]?.id ?? '';
    const word = async (call: Promise<unknown>): Promise<string> => {
      const answer = (await call.catch(async (error) => ({
        refused: await why(Promise.reject(error)),
      }))) as {
        refused?: string;
        state?: OperationState;
        capture?: { state: OperationState };
        oct?: { state: OperationState };
        refund?: { state: OperationState };
      };
      const state = answer.state ?? answer.capture?.state ?? answer.oct?.state ?? answer.refund?.state;
      return answer.refused ?? OperationState[state ?? 0] ?? '';
    };

    for (const point of CRASH_POINTS) {
      it(`at '${point}'`, async () => {
        const { at, ends, repeats } = RUNS[point];
        const { call, requestId } = await at({ shop, stage });
        crash.at = point;
        if (repeats === '') await assert.rejects(call(shop));
        else assert.equal(await word(call(shop)), 'UNKNOWN', 'the operation is stored, so no refusal may be answered');
        assert.equal(crash.at, undefined, 'the point was reached');
        const isOct = point.startsWith('oct');
        const about = requestId ?? (await newest(isOct ? 'submission' : 'hold'));
        if (repeats !== '') assert.equal(await word(call(elsewhere)), 'IDEMPOTENCY_IN_FLIGHT');
        await recover();
        if (isOct) assert.equal(OperationState[(await shop.getOct(about)).oct?.state ?? 0], ends);
        else {
          assert.equal(await shop.books({ requestId: about }), ends);
          await reconciled(about);
        }
        for (const each of repeats === '' ? [] : [shop, elsewhere]) assert.equal(await word(call(each)), repeats);
      });
    }
  });

  it('inquires once while the answer may still arrive', async () => {
    await recover();
    await shop.oct({ tokenId: 'tok_sandbox_timeout_lost' });
    const [asked, late] = [Promise.withResolvers<void>(), Promise.withResolvers<InquiryAnswer>()];
    let count = 0;
    const ask = () => {
      asked.resolve();
      return ++count === 1 ? late.promise : Promise.resolve<InquiryAnswer>({ found: 'AT_WORK' });
    };
    const only = stage.recovery.processors.of({ processor: 'default' });
    const processors = processorsOf([['default', { ...only, timeoutMs: 60_000, inquire: ask }]]);
    stage.clock.advance(2_000);
    const first = workOnce(inquiries({ ...stage.recovery, processors }));
    await asked.promise;
    stage.clock.advance(61_000);
    await workOnce(inquiries({ ...stage.recovery, processors }));
    late.resolve({ found: 'AT_WORK' });
    await first;
    assert.equal(count, 1);
    await recover();
  });

  it('fails as one when the database goes away, which must not end the process', async () => {
    const gone = await openPool({ databaseUrl: stage.settings.DATABASE_URL, poolSize: 1 });
    await gone.close();
    const unheard: unknown[] = [];
    const hear = (reason: unknown) => void unheard.push(reason);
    process.on('unhandledRejection', hear);
    await assert.rejects(workOnce(inquiries({ ...stage.recovery, database: gone })));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', hear);
    assert.deepEqual(unheard, []);
  });
});
