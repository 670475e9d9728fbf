/** What an answer promises: requestIds drawn by the caller, deadlines, limits, locked rows, broken connections. */
import assert from 'node:assert/strict';
import { credentials } from '@grpc/grpc-js';
import pg from 'pg';
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import { openChannel } from '../../../../../platform/grpc-client.ts';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { PreauthorizationService } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { ADVISORY_LOCKS } from '../../../../../services/core/storage/database.ts';
import { findHold } from '../../../../../services/core/storage/hold/read-holds.ts';
import { runningMs } from '../../../../running-ms.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, openShop, sql } from '../../shop.ts';
import { openStage, refusal } from '../../stage.ts';

const { OK, UNKNOWN } = OperationState;

describe('what an answer promises', () => {
  const stage = forSuite(() => openStage({ cores: 2 }));
  const acme = forSuite(() => openMerchant(stage, 'acme'));
  const other = forSuite(() => openMerchant(stage, 'other'));
  const elsewhere = forSuite(() => openShop(stage, 'acme', 1));

  const countOf = async (table: 'hold' | 'submission', requestId: string) =>
    (await sql<{ n: number }>(stage, `select count(*)::int as n from ${table} where request_id = $1`, [requestId]))[0]
      ?.n;
  const why = async (call: Promise<unknown>) => {
    const { reason, status } = await refusal(call);
    return reason || status;
  };
  const named = (operationRequestId = uuidv7()) => ({ operationRequestId });

  describe('a requestId that the caller has drawn', () => {
    it('names the operation, and the same call under it is the same call, at any core', async () => {
      const name = named();
      const first = await acme.hold(name);
      assert.equal(first.requestId, name.operationRequestId);
      for (const shop of [acme, elsewhere]) {
        const again = await shop.place(name);
        assert.deepEqual([again.preauthorization?.requestId, again.replayed], [first.requestId, false]);
        assert.equal(again.preauthorization?.preauthorizationId, first.preauthorizationId);
      }
      const [capture, release, oct] = [named(), named(), named()];
      const captures = [await acme.capture(first, 100n, capture), await elsewhere.capture(first, 100n, capture)];
      assert.deepEqual(new Set(captures.map((each) => each.capture?.requestId)), new Set([capture.operationRequestId]));
      const releases = [await acme.release(first, release), await elsewhere.release(first, release)];
      assert.deepEqual(new Set(releases.map((each) => each.requestId)), new Set([release.operationRequestId]));
      const octs = [await acme.oct(oct), await elsewhere.oct(oct)];
      assert.deepEqual(new Set(octs.map((each) => each.oct?.requestId)), new Set([oct.operationRequestId]));
      assert.equal(await acme.books(first), 'CAPTURED 100/0/0/9900/0 RELEASED');
      const entries = [capture, release, oct].map((each) => stage.oracle.find(each.operationRequestId)?.answer);
      assert.deepEqual(entries, [1, 1, 1]);
    });

    it('makes one operation of twenty simultaneous calls', async () => {
      const name = named();
      const calls = Array.from({ length: 20 }, (_, index) => (index % 2 ? acme : elsewhere).place(name));
      for (const end of await Promise.allSettled(calls)) {
        if (end.status === 'fulfilled') assert.equal(end.value.preauthorization?.requestId, name.operationRequestId);
        else assert.equal(await why(Promise.reject(end.reason)), 'IDEMPOTENCY_IN_FLIGHT');
      }
      assert.equal(await countOf('hold', name.operationRequestId), 1);
      assert.equal(stage.oracle.entries(name.operationRequestId).length, 1);
    });

    it('returns the KO of the first call again', async () => {
      const name = { ...named(), tokenId: 'tok_sandbox_declined' };
      for (const shop of [acme, elsewhere]) assert.equal(await why(shop.place(name)), 'CARD_DECLINED');
    });

    it('is rejected when it is malformed, another merchant’s, or names something else; nothing is stored', async () => {
      for (const operationRequestId of ['', 'x', uuidv4(), uuidv7().toUpperCase(), `${uuidv7()} `]) {
        assert.equal(await why(acme.place({ operationRequestId })), 'INVALID_REQUEST', operationRequestId);
      }
      const name = named();
      const hold = await acme.hold(name);
      const capture = named();
      await acme.capture(hold, 100n, capture);
      const another = await acme.hold();
      const cases: [string, () => Promise<unknown>][] = [
        ['other fields', () => acme.place({ ...name, amount: 1n })],
        ['another merchant', () => other.place(name)],
        ['an OCT under a hold’s name', () => acme.oct(name)],
        ['a capture under a hold’s name', () => acme.capture(hold, 100n, name)],
        ['a release under a hold’s name', () => acme.release(hold, name)],
        ['a hold under a capture’s name', () => acme.place(capture)],
        ['a capture of another amount', () => acme.capture(hold, 101n, capture)],
        ['a capture of another hold', () => acme.capture(another, 100n, capture)],
      ];
      for (const [what, call] of cases) assert.equal(await why(call()), 'INVALID_REQUEST', what);
      assert.equal(await acme.books(hold), 'PARTIALLY_CAPTURED 100/0/9900/0/0');
      assert.equal(await countOf('submission', name.operationRequestId), 0);
      assert.equal(await countOf('submission', name.operationRequestId), 0);
    });
  });

  describe('a deadline', () => {
    /** A client of core that sends a given deadline as metadata. */
    function holdsBy(deadlineMs: number | string, timeoutMs = 10_000) {
      const address = `127.0.0.1:${stage.cores[0]?.corePort}`;
      const token = stage.tokens.gateway;
      const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs });
      const call = { metadata: { 'holdfast-deadline-ms': String(deadlineMs) } };
      const place = (fields: object) =>
        channel.client(PreauthorizationService).createPreauthorization(
          {
            merchantId: 'acme',
            tokenId: 'tok_sandbox_ok',
            amount: 1n,
            currency: 'EUR',
            terminalId: 'T1',
            userId: 'u',
            ...fields,
          },
          call,
        );
      return { place, close: () => channel.close() };
    }

    it('that has passed refuses the call before anything is read or stored', async () => {
      const { place, close } = holdsBy(Date.now() - 1);
      const name = named();
      assert.equal(await why(place(name)), 'UNAVAILABLE');
      assert.equal(await countOf('hold', name.operationRequestId), 0);
      close();
    });

    it('that no database can store is as good as none', async () => {
      const { place, close } = holdsBy('9'.repeat(15), Number.POSITIVE_INFINITY);
      const name = named();
      await place(name);
      assert.equal(await countOf('hold', name.operationRequestId), 1);
      close();
    });

    it('that cannot be read refuses the call, which would not end by it', async () => {
      for (const text of [`${Date.now() + 5_000}.25`, '-1', '1e13', 'soon', '2026-11-25T12:00:00Z', '']) {
        const { place, close } = holdsBy(text);
        const name = named();
        assert.equal(await why(place(name)), 'INVALID_REQUEST', text);
        assert.equal(await countOf('hold', name.operationRequestId), 0);
        close();
      }
    });

    it('is checked by the statement, too: a write that reaches the database too late is not stored', async () => {
      const hold = await acme.hold();
      const at = new Date(stage.clock.now());
      const patience = { deadlineMs: Date.now() - 1, isGone: () => false };
      const requestId = uuidv7();
      const { books } = stage.recovery;
      // The gather checks first, so this calls the statement directly.
      const late = { deadline: new Date(patience.deadlineMs) };
      const { storeSubmissions } = await import('../../../../../services/core/storage/submission/store-submissions.ts');
      const oct = {
        kind: 'OCT',
        merchantId: 'acme',
        terminalId: 'T1',
        userId: 'u',
        tokenId: 't',
        amount: 1n,
        reported: false,
      } as const;
      const place = { processor: 'default', processorAccount: '', currency: 'EUR' };
      const times = { ...place, createdAt: at, inquireAt: at };
      const outcomes = await storeSubmissions(stage.database.query, [{ ...oct, ...times, ...late, requestId }]);
      assert.deepEqual(
        [...outcomes.values()].map(({ outcome }) => outcome),
        ['LATE'],
      );
      const { idHash } = (await findHold(stage.database.query, hold.requestId)) ?? assert.fail();
      const request = { requestId, idHash, merchantId: 'acme', amount: 1n, at, inquireAt: at, patience };
      for (const kind of ['CAPTURE', 'RELEASE'] as const) {
        await assert.rejects(books.store({ ...request, kind }), { reason: 'LATE' });
      }
      assert.equal(await countOf('submission', requestId), 0);
    });
  });

  describe('a row locked by another session', () => {
    /** Locks rows until released. */
    async function locked(text: string, values: unknown[]) {
      const client = new pg.Client({ connectionString: stage.settings.DATABASE_URL });
      await client.connect();
      await client.query('begin');
      await client.query(text, values);
      return async () => {
        await client.query('rollback');
        await client.end();
      };
    }
    const LOCK_HOLD = 'select from hold where request_id = any($1::uuid[]) for update';

    it('delays nothing of other holds, and a capture of its own hold has an unknown outcome', async () => {
      const [stuck, ...free] = await Promise.all([acme.hold(), acme.hold(), other.hold(), acme.hold()]);
      assert(stuck && free[0] && free[1] && free[2]);
      const slow = await stage.soon(acme.hold({ tokenId: 'tok_sandbox_slow' }));
      const capturing = acme.capture(slow, 1_000n);
      const reserved = 'select from submission where hold_request_id = $1';
      while ((await sql(stage, reserved, [slow.requestId])).length === 0);
      const unlock = await locked(LOCK_HOLD, [[stuck.requestId, slow.requestId]]);
      const refused = why(acme.capture(stuck, 1_000n));
      const startedMs = runningMs();
      await acme.capture(free[0], 1_000n);
      await other.capture(free[1], 1_000n);
      await acme.release(free[2]);
      await acme.hold();
      assert(runningMs() - startedMs < 4_000, 'others continued while the rows were locked');
      assert.equal(await refused, 'UNAVAILABLE', 'nothing of it was stored');
      assert.equal((await stage.soon(capturing)).capture?.state, UNKNOWN, 'it was charged, so it is not refused');
      await unlock();
      stage.clock.advance(60_000);
      await stage.inquire();
      assert.equal(await acme.books(slow), 'PARTIALLY_CAPTURED 1000/0/9000/0/0');
      assert.equal(await acme.books(stuck), 'IN_PROGRESS 0/0/10000/0/0');
    });

    it('does not delay the expiry of other holds', async () => {
      const [stuck, free] = [await acme.hold(), await acme.hold()];
      await sql(stage, 'update hold set expires_at = $2 where request_id = any($1::uuid[])', [
        [stuck.requestId, free.requestId],
        new Date(stage.clock.now()),
      ]);
      const unlock = await locked(LOCK_HOLD, [[stuck.requestId]]);
      await assert.rejects(stage.expire(), 'the locked one is told');
      assert.equal(await acme.books(free), 'EXPIRED 0/0/0/10000/0 EXPIRED');
      await unlock();
      await stage.expire();
      assert.equal(await acme.books(stuck), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    });
  });

  it('does not stop a hold from settling though the connection that was settling it is cut', async () => {
    const client = new pg.Client({ connectionString: stage.settings.DATABASE_URL });
    await client.connect();
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCKS.operationOrder]);
    const placing = acme.place();
    const settling = `select pid from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
    let pid: number | undefined;
    while (pid === undefined) pid = (await client.query<{ pid: number }>(settling)).rows[0]?.pid;
    await client.query('select pg_terminate_backend($1)', [pid]);
    await client.query('select pg_advisory_unlock($1)', [ADVISORY_LOCKS.operationOrder]);
    await client.end();
    const { preauthorization, state } = await placing;
    assert.equal(state, OK);
    assert.equal(await acme.books(preauthorization ?? assert.fail()), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('expires a frozen hold at its end like any other: freezing only stops captures', async () => {
    const hold = await acme.hold();
    await sql(stage, 'update hold set frozen = true, expires_at = $2 where request_id = $1', [
      hold.requestId,
      new Date(stage.clock.now()),
    ]);
    await stage.expire();
    assert.equal(await acme.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED frozen');
  });
});
