import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { create } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { credentials } from '@grpc/grpc-js';
import { openChannel } from '../../../../platform/grpc-client.ts';
import { Health, HealthCheckResponse_ServingStatus } from '../../../../proto/gen/grpc/health/v1/health_pb.js';
import { ListEntriesResponseSchema } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { AuditService } from '../../../../proto/gen/holdfast/v1/audit_pb.js';
import { OperatorService } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { parseProcessors } from '../../../../services/core/processor/processor-settings.ts';
import { processorsOf, rowsByProcessor } from '../../../../services/core/processor/processors.ts';
import type { Ledger } from '../../../../services/core/processor/read-entries.ts';
import { audit as runAudit } from '../../../../services/core/reconciliation/self-audit.ts';
import { expiries } from '../../../../services/core/recovery/due-holds.ts';
import { inquiries } from '../../../../services/core/recovery/inquire-open.ts';
import { runningMs } from '../../../running-ms.ts';
import { forSuite } from '../../../suite.ts';
import { approved, done, startFakeProcessor } from '../fake-processor.ts';
import { openMerchant, type Shop, sql } from '../shop.ts';
import { contract, openStage, refusal, why } from '../stage.ts';
import { workOnce } from '../work-once.ts';

describe('parseProcessors()', () => {
  it('reads names and addresses, the default first', () => {
    assert.deepEqual(parseProcessors('sandbox=127.0.0.1:50061, stripe=[::1]:2'), [
      { name: 'sandbox', address: '127.0.0.1:50061' },
      { name: 'stripe', address: '[::1]:2' },
    ]);
  });

  for (const wrong of ['', 'host:1', 'a=host', 'A=host:1', 'a=host:1,', 'a=host:1,a=host:2', 'a=http://host:1'])
    it(`refuses ${JSON.stringify(wrong)}`, () => assert.throws(() => parseProcessors(wrong)));
});

describe('several processors', () => {
  const other = forSuite(startFakeProcessor);
  const stage = forSuite(() => openStage({ beside: { other: other.address }, processorTimeoutMs: 2_000 }));
  const acme = forSuite(() => openMerchant(stage, 'acme'));
  const beta = forSuite(() => openMerchant(stage, 'beta', { processor: 'other', processorAccount: 'acct_7' }));
  beforeEach(() => {
    other.says = {};
    for (const method of ['authorize', 'capture', 'void', 'credit'] as const) other.says[method] = () => approved;
    other.says.inquire = () => done(approved);
    other.heard.length = 0;
  });

  const heard = () => other.heard.map(({ method }) => method);
  const frozen = () => new Promise<never>(() => undefined);

  it("sends a merchant's operations to the processor of its contract, with its account", async () => {
    const accounts: string[] = [];
    other.says.authorize = ({ account }) => {
      accounts.push(account);
      return approved;
    };
    other.says.void = ({ account, merchantId }) => {
      accounts.push(`${account} ${merchantId}`);
      return approved;
    };
    const hold = await beta.hold();
    await beta.capture(hold, 1_000n);
    await beta.release(hold);
    await beta.oct();
    await acme.capture(await acme.hold(), 1_000n);
    assert.deepEqual(heard(), ['authorize', 'capture', 'void', 'credit']);
    assert.deepEqual(accounts, ['acct_7', 'acct_7 beta']);
  });

  it('keeps a hold at the processor where it was placed, whatever the contract says later', async () => {
    const hold = await beta.hold();
    const { merchants } = stage.channel('operator');
    await merchants.updateMerchant({ merchantId: 'beta', name: 'beta', contract: contract() });
    await beta.capture(hold, 1_000n);
    stage.clock.advance(8 * 24 * 3_600_000);
    await stage.expire();
    assert.deepEqual(heard(), ['authorize', 'capture', 'void']);
    assert.equal(await beta.books(hold), 'CAPTURED 1000/0/0/9000/0 EXPIRED');
    stage.clock.advance(2_000);
    await beta.hold();
    assert.deepEqual(heard(), ['authorize', 'capture', 'void']);
    await merchants.updateMerchant({
      merchantId: 'beta',
      name: 'beta',
      contract: contract({ processor: 'other', processorAccount: 'acct_7' }),
    });
    stage.clock.advance(2_000);
  });

  it('rejects a contract with an unknown processor', async () => {
    const { merchants } = stage.channel('operator');
    const wrong = contract({ processor: 'nobody' });
    const { reason } = await refusal(merchants.createMerchant({ merchantId: 'gamma', name: 'Gamma', contract: wrong }));
    assert.equal(reason, 'INVALID_REQUEST');
  });

  it('names the processor of an operation in review', async () => {
    other.says.capture = () => undefined;
    const { capture } = await beta.capture(await beta.hold(), 1_000n);
    const operators = openChannel({
      address: `127.0.0.1:${stage.cores[0]?.corePort}`,
      credentials: credentials.createInsecure(),
      token: stage.tokens.operator,
      timeoutMs: 5_000,
    });
    const { items } = await operators.client(OperatorService).listReviewItems({ merchantId: 'beta' });
    operators.close();
    assert.deepEqual(
      items.map(({ requestId, processor }) => [requestId, processor]),
      [[capture?.requestId, 'other']],
    );
    await settleAll();
  });

  it('does not delay recovery and expiry at one processor while another is frozen', async () => {
    const { recovery, clock } = stage;
    const [held, kept] = [await beta.hold(), await acme.hold()];
    other.says.capture = () => undefined;
    const { capture } = await beta.capture(held, 1_000n);
    const oct = await acme.oct({ tokenId: 'tok_sandbox_timeout_applied' });
    clock.advance(60_000);
    other.says.inquire = frozen;
    const rows = rowsByProcessor(recovery.processors);
    const at = (name: string) => rows[recovery.processors.names.indexOf(name)];
    // As in a worker: each processor has its own loop.
    const slow = workOnce(inquiries(recovery, at('other')));
    await workOnce(inquiries(recovery, at('first')));
    assert.equal((await acme.getOct(oct.oct?.requestId ?? '')).oct?.state, OperationState.OK);
    assert.equal(await slow, 1, 'each loop finds its own rows only');
    clock.advance(8 * 24 * 3_600_000);
    other.says.void = frozen;
    await workOnce(expiries(recovery, at('first')));
    assert.equal(await acme.books(kept), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    assert.equal(await beta.books(held), 'IN_PROGRESS 0/1000/9000/0/0');
    other.says.inquire = () => done(approved);
    await settleAll();
    assert.equal(capture?.state, OperationState.UNKNOWN);
  });

  it('stores no new holds and OCTs of a frozen processor, and accepts captures and other merchants', async () => {
    const hold = await beta.hold();
    const keyed = { idempotencyKey: 'before' };
    const first = await beta.place(keyed);
    for (const method of ['authorize', 'credit', 'capture'] as const) other.says[method] = frozen;
    await Promise.all(Array.from({ length: 12 }, () => beta.place()));
    const countOf = async () => (await sql<{ n: number }>(stage, 'select count(*)::int as n from hold'))[0]?.n;
    const before = await countOf();
    const startedMs = performance.now();
    const words = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const answer = beta.place().then(
          ({ state }) => OperationState[state],
          async (error) => await why(Promise.reject(error)),
        );
        return answer;
      }),
    );
    const probes = words.filter((word) => word !== 'UNAVAILABLE').length;
    const most = 1 + Math.floor((performance.now() - startedMs) / 1_000);
    assert(probes >= 1 && probes <= most, `one goes through as a probe in each second: ${words}`);
    assert.equal(await countOf(), (before ?? 0) + probes);
    const octs = await Promise.all([1, 2].map(() => why(beta.oct()).catch(() => 'a probe')));
    assert(octs.includes('UNAVAILABLE'), `${octs}`);
    assert.equal((await beta.place(keyed)).preauthorization?.requestId, first.preauthorization?.requestId);
    assert.equal((await beta.capture(hold, 1_000n)).capture?.state, OperationState.UNKNOWN);
    await acme.capture(await acme.hold(), 1_000n);
    await untilSeen(['first true SERVING', 'other false NOT_SERVING']);
    other.says.authorize = () => approved;
    other.says.inquire = () => done(approved);
    await settleAll();
    await beta.hold();
    await untilSeen(['first true SERVING', 'other true SERVING']);
  });

  /** Returns what the overview and health report about each processor. */
  async function seenByOperators(): Promise<string[]> {
    const { opened } = stage.channel('operator');
    const { processors } = await opened.client(OperatorService).getOverview({});
    const health = opened.client(Health);
    return Promise.all(
      processors.map(async ({ processor, available }) => {
        const { status } = await health.check({ service: `processor/${processor}` });
        return `${processor} ${available} ${HealthCheckResponse_ServingStatus[status]}`;
      }),
    );
  }

  /** Health is updated once a second. */
  async function untilSeen(expected: readonly string[]): Promise<void> {
    for (let tries = 0; ; tries++) {
      const seen = await seenByOperators();
      if (isDeepStrictEqual(seen, expected)) return;
      if (tries === 100) assert.deepEqual(seen, expected);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  it("counts each processor's entries in an audit, compares books it can read, and names one it cannot", async () => {
    const books = stage.client('operator', AuditService);
    // The other one does not serve its books.
    await settleAll();
    const wrong = await acme.hold();
    // What a hold was asked for, and what increments made of it, are compared with different books.
    for (const [columns, kinds] of [
      [['amount', 'remaining'], 'HOLD_COUNTERS SUMS_AT_PROCESSOR'],
      [['amount', 'remaining', 'amount_asked'], 'OPERATION_DIFFERS AMOUNT_AT_PROCESSOR'],
    ] as const) {
      const add = (number: number) => {
        const changes = columns.map((column) => `${column} = ${column} + ${number}`);
        return sql(stage, `update hold set ${changes.join(', ')} where request_id = $1`, [wrong.requestId]);
      };
      await add(1);
      const told: string[] = [];
      await assert.rejects(async () => {
        for await (const { line } of books.auditBooks({}))
          if (line.case === 'drift') told.push(`${line.value.kind} ${line.value.requestId}`);
      }, /UNAVAILABLE: processor other does not answer, so its books cannot be read/);
      assert.deepEqual(
        told,
        kinds.split(' ').map((kind) => `${kind} ${wrong.requestId}`),
      );
      await add(-1);
    }
    const parts = { databaseUrl: stage.settings.DATABASE_URL, most: 1, patienceMs: 0 };
    const ledgers = new Map<string, Ledger>([
      ['first', stage.recovery.processors.of({ processor: 'first' })],
      ['other', { listEntries: async () => create(ListEntriesResponseSchema) }],
    ]);
    const { ledgers: counted, entries } = await runAudit({ ...parts, processors: ledgers });
    assert(entries > 0);
    assert.deepEqual(counted, [
      { processor: 'first', entries },
      { processor: 'other', entries: 0 },
    ]);
  });

  it('accepts events of two processors with the same identifier', async () => {
    const lost = async (shop: Shop) => (await shop.capture(await shop.hold(), 1_000n)).capture?.requestId ?? '';
    const ofFirst = stage.channel('processor').events;
    const reverse = async (captureRequestId: string, amount: bigint, events = ofFirst) => {
      const value = { captureRequestId, amount, reference: '' };
      await events.reportEvent({
        eventId: 'evt_1',
        occurredAt: timestampNow(),
        event: { case: 'captureReversed', value },
      });
    };
    await reverse(await lost(beta), 100n, stage.eventsOfSecond());
    await reverse(await lost(acme), 200n);
    assert.equal(await why(reverse(await lost(acme), 300n)), 'IDEMPOTENCY_KEY_REUSED');
    const stored = await sql(stage, `select processor from processor_event where id = 'evt_1' order by 1`);
    assert.deepEqual(stored, [{ processor: 'first' }, { processor: 'other' }]);
  });

  it('keeps operations of a processor that is no longer configured', async () => {
    const gone = processorsOf([['first', stage.recovery.processors.of({ processor: 'first' })]]).of({
      processor: 'other',
    });
    assert.deepEqual(await gone.inquire({ requestId: '', merchantId: '', processorAccount: '' }), {
      found: 'NO_ANSWER',
    });
    assert.deepEqual(await gone.send('void', {}), { answer: 'UNKNOWN' });
  });

  async function settleAll(): Promise<void> {
    stage.clock.advance(60_000);
    while ((await stage.inquire()) > 0);
  }
});

describe('callers that wait for a frozen processor', () => {
  const other = forSuite(startFakeProcessor);
  // A quarter of the calls, four, may wait for each processor, and three of one merchant.
  const stage = forSuite(() =>
    openStage({ beside: { other: other.address }, processorTimeoutMs: 10_000, callsInFlight: 16 }),
  );
  const acme = forSuite(() => openMerchant(stage, 'acme'));
  const beta = forSuite(() => openMerchant(stage, 'beta', { processor: 'other' }));

  it('are limited; further ones are answered at once: new ones 503, captures and releases 202', async () => {
    other.says = { authorize: () => approved };
    const [first, second] = [await beta.hold(), await beta.hold()];
    const thaw = Promise.withResolvers<typeof approved>();
    other.says = { authorize: () => thaw.promise, capture: () => thaw.promise, void: () => thaw.promise };
    const waiting = [beta.place(), beta.place(), beta.place()];
    await until(() => other.heard.filter(({ method }) => method === 'authorize').length === 5);
    const startedMs = runningMs();
    assert.equal(await why(beta.place()), 'UNAVAILABLE');
    assert.equal(await why(beta.oct()), 'UNAVAILABLE');
    const { capture } = await beta.capture(first, 10_000n);
    assert.equal(capture?.state, OperationState.UNKNOWN);
    assert.equal((await beta.release(second)).state, OperationState.UNKNOWN);
    await acme.capture(await acme.hold(), 1_000n);
    assert(runningMs() - startedMs < 8_000, 'no caller waited for the frozen one');
    assert.deepEqual(await sql(stage, "select count(*)::int as n from hold where merchant_id = 'beta'"), [{ n: 5 }]);
    assert.deepEqual(await sql(stage, 'select count(*)::int as n from submission where kind = $1', ['OCT']), [
      { n: 0 },
    ]);
    thaw.resolve(approved);
    for (const { state } of await Promise.all(waiting)) assert.equal(state, OperationState.OK);
    // They were sent, and their results are booked.
    await until(async () => (await beta.books(first)).startsWith('CAPTURED 10000'));
    await until(async () => (await beta.books(second)).startsWith('RELEASED'));
  });

  async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
  }
});
