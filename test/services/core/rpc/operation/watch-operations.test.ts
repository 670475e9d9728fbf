import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Client } from 'pg';
import type { WatchOperationsResponse } from '../../../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationKind } from '../../../../../proto/gen/holdfast/v1/operation_pb.js';
import { COMMIT_CHANNEL } from '../../../../../services/core/storage/announce.ts';
import { inNameOf } from '../../../../../services/core/storage/audit-log/actor.ts';
import { moveSequencesAhead } from '../../../../../services/core/storage/reconciling.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, openShop, sql } from '../../shop.ts';
import { openStage, refusal, why } from '../../stage.ts';
import { rememberNow } from '../../time-machine.ts';

const DAY_MS = 24 * 3_600 * 1_000;

describe('watchOperations()', () => {
  const stage = forSuite(() => openStage({ cores: 2 }));
  const shop = forSuite(() => openMerchant(stage, 'acme'));
  const watchers = forSuite(() => [stage.channel('internal', 0), stage.channel('internal', 1)]);

  before(() => openMerchant(stage, 'other'));

  /** Opens a stream and reads its first heartbeat; `cut` ends it. */
  async function open(request: { merchantId?: string; resumeToken?: string; maxBatchSize?: number } = {}, core = 0) {
    const abort = new AbortController();
    const stream = watchers[core]?.operations.watchOperations(request, { signal: abort.signal });
    const messages = (stream ?? assert.fail())[Symbol.asyncIterator]();
    const first = await messages.next();
    assert.equal(first.value.operation, undefined);
    return {
      first: first.value as WatchOperationsResponse,
      /** The next results. A slow machine gets heartbeats in between. */
      async next(): Promise<WatchOperationsResponse> {
        for (;;) {
          const { value, done } = await messages.next();
          assert(!done);
          if (value.operation || value.operations.length > 0) return value;
        }
      },
      async cut(): Promise<void> {
        abort.abort();
        await messages.next().then(
          () => undefined,
          () => undefined,
        );
      },
    };
  }
  const everything = () =>
    sql<{ sequence: string; request_id: string }>(
      stage,
      'select sequence, request_id from operation order by sequence',
    );

  it('starts now, and sends each result as it is committed, by any core', async () => {
    await shop.hold();
    const stream = await open({}, 1);
    const hold = await openShop(stage, 'acme', 0).hold();
    await openShop(stage, 'acme', 1).capture(hold, 10n);
    const placed = await stream.next();
    assert.deepEqual([placed.operation?.requestId, placed.operation?.kind], [hold.requestId, OperationKind.HOLD]);
    const captured = await stream.next();
    assert.deepEqual([captured.operation?.holdRequestId, captured.operation?.amount], [hold.requestId, 10n]);
    assert((captured.operation?.sequence ?? 0n) > (placed.operation?.sequence ?? 0n));
    await stream.cut();
  });

  it('resumes after a token, at another core as well', async () => {
    const stream = await open();
    const token = stream.first.resumeToken;
    const first = await shop.hold();
    const { resumeToken } = await stream.next();
    await stream.cut();
    const second = await shop.hold();
    const resumed = await open({ resumeToken }, 1);
    assert.equal(resumed.first.resumeToken, resumeToken);
    assert.equal((await resumed.next()).operation?.requestId, second.requestId);
    await resumed.cut();
    const again = await open({ resumeToken: token });
    assert.equal((await again.next()).operation?.requestId, first.requestId);
    assert.equal((await again.next()).operation?.requestId, second.requestId);
    await again.cut();
  });

  it('sends a merchant only its own results', async () => {
    const stream = await open({ merchantId: 'acme' });
    await openShop(stage, 'other').hold();
    const mine = await shop.hold();
    assert.equal((await stream.next()).operation?.requestId, mine.requestId);
    await stream.cut();
  });

  it('sends several in one message on request, and resumes after any of them', async () => {
    const { first, cut } = await open();
    await cut();
    const holds = [await shop.hold(), await shop.hold(), await shop.hold()].map(({ requestId }) => requestId);
    const stream = await open({ resumeToken: first.resumeToken, maxBatchSize: 2 });
    const [pair, rest] = [await stream.next(), await stream.next()];
    assert.deepEqual([pair.operation, rest.operation], [undefined, undefined]);
    const told = [pair, rest].map(({ operations }) => operations.map(({ requestId }) => requestId));
    assert.deepEqual(told, [holds.slice(0, 2), holds.slice(2)]);
    await stream.cut();
    const resumed = await open({ resumeToken: pair.resumeToken, maxBatchSize: 2 });
    assert.deepEqual((await resumed.next()).operations, rest.operations);
    await resumed.cut();
  });

  it('batches only the results of the merchant who watches', async () => {
    const { first, cut } = await open();
    await cut();
    await openShop(stage, 'other').hold();
    const mine = await shop.hold();
    const stream = await open({ merchantId: 'acme', resumeToken: first.resumeToken, maxBatchSize: 1_000 });
    assert.deepEqual(
      (await stream.next()).operations.map(({ requestId }) => requestId),
      [mine.requestId],
    );
    await stream.cut();
  });

  it('rejects a batch of more than 1 000', async () => {
    assert.equal(await why(open({ maxBatchSize: 1_001 })), 'INVALID_REQUEST');
  });

  it('skips nothing and keeps the order, however often it is cut, while two cores write', async () => {
    const start = await open();
    let resumeToken = start.first.resumeToken;
    await start.cut();
    const already = (await everything()).length;
    let writing = true;
    const writers = [0, 1].flatMap((core) =>
      Array.from({ length: 8 }, async () => {
        const at = openShop(stage, core === 0 ? 'acme' : 'other', core);
        for (let round = 0; round < 12; round++) {
          const hold = await at.hold();
          await Promise.all([at.capture(hold, 1n), at.oct()]);
        }
      }),
    );
    const written = Promise.all(writers).then(() => {
      writing = false;
    });
    const seen: bigint[] = [];
    let cuts = 0;
    const read = async (most: number) => {
      const stream = await open({ resumeToken }, cuts % 2);
      for (let count = 0; count < most; count++) {
        const { operation, resumeToken: token } = await stream.next();
        resumeToken = token;
        if (operation) seen.push(operation.sequence);
      }
      await stream.cut();
      cuts++;
    };
    const total = 2 * 8 * 12 * 3;
    while (seen.length < total) await read(Math.min(1 + (cuts % 17), total - seen.length));
    await written;
    assert.equal(writing, false);
    assert(cuts >= 50, `cut ${cuts} times`);
    const kept = (await everything()).slice(already).map(({ sequence }) => BigInt(sequence));
    assert.deepEqual(seen, kept);
  });

  it('catches up from the first result, page by page', async () => {
    const text = `insert into operation (request_id, kind, status, status_info, merchant_id, terminal_id, user_id,
      amount, currency, final_state_date)
      select gen_random_uuid(), 'OCT', 'OK', 'paid', 'bulk', 't', 'u', n, 'EUR', $1 from generate_series(1, 2500) n`;
    const before = await open();
    await sql(stage, text, [new Date(stage.clock.now())]);
    const stream = await open({ merchantId: 'bulk', resumeToken: before.first.resumeToken });
    for (let amount = 1n; amount <= 2_500n; amount++) assert.equal((await stream.next()).operation?.amount, amount);
    await Promise.all([before.cut(), stream.cut()]);
  });

  it('hears of each result once: with the endpoint of its notification where there is one', async () => {
    const notified = await openMerchant(stage, 'notified', {
      notifyHolds: true,
      webhookUrl: 'https://shop.example/hook',
    });
    const heard: string[] = [];
    const listener = new Client({ connectionString: stage.settings.DATABASE_URL });
    await listener.connect();
    listener.on('notification', ({ payload }) => heard.push(payload ?? ''));
    await listener.query(`listen ${COMMIT_CHANNEL}`);
    try {
      const stream = await open({}, 1);
      for (const each of [notified, shop, notified]) {
        const { requestId } = await each.hold();
        assert.equal((await stream.next()).operation?.requestId, requestId);
      }
      await stream.cut();
      // A stream may read by itself before it is notified.
      while (heard.length < 3) await once(listener, 'notification');
      assert.deepEqual(heard.sort(), ['', 'notified/webhook', 'notified/webhook']);
    } finally {
      await listener.end();
    }
  });

  it('rejects a token that it did not issue', async () => {
    const { operations } = stage.channel('internal');
    const negative = Buffer.from('o2:-1:0123456789ab').toString('base64url');
    for (const resumeToken of ['nonsense', 'o2:1', '0', Buffer.from('o2:7').toString('base64url'), negative]) {
      const call = operations.watchOperations({ resumeToken })[Symbol.asyncIterator]().next();
      assert.equal(await why(call), 'INVALID_REQUEST', resumeToken);
    }
  });

  it('rejects a token of a history that the database lost, and never skips what replaced it', async () => {
    const { first, cut } = await open();
    await cut();
    const [, digits, mark = ''] = Buffer.from(first.resumeToken, 'base64url').toString().split(':');
    const sequence = BigInt(digits ?? '');
    const other = mark === '0'.repeat(12) ? '1'.repeat(12) : '0'.repeat(12);
    const { operations } = stage.channel('internal');
    for (const foreign of [`${sequence}:${other}`, `${sequence}:`, `${sequence + 1_000n}:${mark}`, `0:${mark}`]) {
      const resumeToken = Buffer.from(`o2:${foreign}`).toString('base64url');
      const call = operations.watchOperations({ resumeToken })[Symbol.asyncIterator]().next();
      const { status, reason } = await refusal(call);
      assert.deepEqual([status, reason], ['OUT_OF_RANGE', 'STREAM_TOKEN_TOO_OLD'], foreign);
    }
  });

  it('ends when the database goes back before a result that it sent, also when the log grew past it', async () => {
    const goBack = await rememberNow(stage);
    const stream = await open();
    await shop.oct();
    const told = await stream.next();
    await goBack();
    for (let count = 0; count < 3; count++) await shop.oct();
    const [ended, resumed] = await Promise.all([
      refusal(stream.next()),
      refusal(
        watchers[1]?.operations.watchOperations({ resumeToken: told.resumeToken })[Symbol.asyncIterator]().next() ??
          assert.fail(),
      ),
    ]);
    assert.deepEqual([ended.reason, resumed.reason], ['STREAM_TOKEN_TOO_OLD', 'STREAM_TOKEN_TOO_OLD']);
  });

  it('reuses no number after a restore that was announced', async () => {
    const last = async () => BigInt((await everything()).at(-1)?.sequence ?? 0);
    const goBack = await rememberNow(stage);
    for (let count = 0; count < 3; count++) await shop.oct();
    const lost = await last();
    await goBack();
    const moved = await inNameOf('operator/ann', () => moveSequencesAhead(stage.database, new Date()));
    await shop.oct();
    assert((await last()) > lost && (await last()) > moved.operation);
    const entries = await sql(stage, `select actor from audit_entry where action = 'database.restored'`);
    assert.deepEqual(entries, [{ actor: 'operator/ann' }]);
  });

  it('rejects a token that is too old to have missed nothing, and accepts one that has missed nothing', async () => {
    const stream = await open();
    const old = stream.first.resumeToken;
    await shop.hold();
    const { resumeToken: newest } = await stream.next();
    await stream.cut();
    stage.clock.advance(90 * DAY_MS + 1);
    const { operations } = stage.channel('internal');
    const call = operations.watchOperations({ resumeToken: old })[Symbol.asyncIterator]().next();
    const { status, reason } = await refusal(call);
    assert.deepEqual([status, reason], ['OUT_OF_RANGE', 'STREAM_TOKEN_TOO_OLD']);
    const resumed = await open({ resumeToken: newest });
    await resumed.cut();
  });
});
