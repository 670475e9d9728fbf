import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { NotificationKind, NotificationService } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { RelayService, type WatchRelayedNotificationsResponse } from '../../../../../proto/gen/holdfast/v1/relay_pb.js';
import { inNameOf } from '../../../../../services/core/storage/audit-log/actor.ts';
import { openPurge } from '../../../../../services/core/storage/purge.ts';
import { moveSequencesAhead } from '../../../../../services/core/storage/reconciling.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, refusal, why } from '../../stage.ts';
import { rememberNow } from '../../time-machine.ts';
import { notification } from '../notification/verified.ts';

const SENDER = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const OTHER_SENDER = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1c';
const DAY_MS = 24 * 3_600 * 1_000;
/** No UTF-8. */
const BYTES = Buffer.from([0x00, 0xff, 0xfe, 0x0a]);

describe('watchRelayedNotifications()', () => {
  const stage = forSuite(() => openStage({ cores: 2 }));
  const cores = forSuite(() =>
    [0, 1].map((core) => ({
      internal: stage.channel('internal', core).opened.client(RelayService),
      relay: stage.channel('gateway', core).opened.client(RelayService),
      notifications: stage.channel('gateway', core).opened.client(NotificationService),
    })),
  );
  let drawn = 0;

  before(async () => {
    await openMerchant(stage, 'm', { internalUrl: 'https://merchant.example' });
    await openMerchant(stage, 'other');
  });

  const at = (core: number) => cores[core] ?? assert.fail();
  /** The relay's own senders' notifications, by their requestId. */
  async function accept(change: object = {}, core = 0): Promise<string> {
    const requestId = `r${++drawn}`;
    await at(core).notifications.acceptNotification(notification(requestId, change));
    return requestId;
  }
  /** Another sender's, by the identifier. */
  async function relay(change: object = {}, core = 0): Promise<string> {
    const identifier = `i${++drawn}`;
    const request = { merchantId: 'm', senderId: SENDER, identifier, body: BYTES, forward: true };
    const headers = [{ name: 'x-github-event', value: 'ping' }];
    await at(core).relay.acceptRelayedNotification({ ...request, headers, ...change });
    return identifier;
  }

  type Request = { merchantId?: string; senderId?: string; resumeToken?: string };
  const ask = (request: Request, core = 0) =>
    at(core).internal.watchRelayedNotifications(request)[Symbol.asyncIterator]().next();

  /** Opens a stream and reads its first heartbeat; `cut` ends it. */
  async function open(request: Request = {}, core = 0) {
    const abort = new AbortController();
    const stream = at(core).internal.watchRelayedNotifications(request, { signal: abort.signal });
    const messages = stream[Symbol.asyncIterator]();
    const { value: first } = await messages.next();
    assert.equal(first.notification, undefined);
    return {
      token: first.resumeToken as string,
      async next(): Promise<WatchRelayedNotificationsResponse> {
        for (;;) {
          const { value, done } = await messages.next();
          assert(!done);
          if (value.notification) return value;
        }
      },
      async name(): Promise<string> {
        const { notification: found } = await this.next();
        return found?.identifier || (found?.requestId ?? assert.fail());
      },
      async cut(): Promise<void> {
        abort.abort();
        await messages.next().catch(() => undefined);
      },
    };
  }

  it('starts now, and sends what any core stores, forwarded or not, byte for byte', async () => {
    await accept();
    const stream = await open({}, 1);
    const requestId = await accept();
    const identifier = await relay({}, 1);
    const parked = await accept({ merchantId: 'other', kind: NotificationKind.OCT, statusInfo: 'paid' }, 1);
    const stored = await relay({ forward: false, headers: [] });
    const { notification: own } = await stream.next();
    assert.deepEqual(
      [own?.merchantId, own?.senderId, own?.kind, own?.statusInfo, own?.requestId, own?.identifier, own?.headers],
      ['m', '', NotificationKind.PAYMENT, 'captured', requestId, '', []],
    );
    assert.equal(Buffer.from(own?.body ?? []).toString(), `{"requestId":"${requestId}"}`);
    assert.equal(own?.acceptedAt && timestampMs(own.acceptedAt), stage.clock.now());
    const { notification: foreign } = await stream.next();
    assert.deepEqual(
      [foreign?.senderId, foreign?.kind, foreign?.statusInfo, foreign?.identifier, foreign?.bodyPurged],
      [SENDER, NotificationKind.RELAY, '', identifier, false],
    );
    assert.equal(foreign?.requestId.slice(0, SENDER.length + 1), `${SENDER}:`);
    assert.deepEqual(Buffer.from(foreign?.body ?? []), BYTES);
    assert.deepEqual(
      foreign?.headers.map(({ name, value }) => [name, value]),
      [['x-github-event', 'ping']],
    );
    assert.deepEqual([await stream.name(), await stream.name()], [parked, stored]);
    await stream.cut();
  });

  it('sends neither duplicates nor what is quarantined', async () => {
    const stream = await open();
    const identifier = await relay();
    await relay({ identifier });
    await relay({ identifier, body: Buffer.from('other') });
    const last = await accept();
    assert.deepEqual([await stream.name(), await stream.name()], [identifier, last]);
    await stream.cut();
  });

  it("sends a merchant's own, or those of one sender", async () => {
    const [mine, sent] = await Promise.all([open({ merchantId: 'm' }), open({ merchantId: 'm', senderId: SENDER })]);
    await accept({ merchantId: 'other' });
    const first = await accept();
    await relay({ senderId: OTHER_SENDER });
    const second = await relay();
    assert.equal(await mine.name(), first);
    assert.equal(await sent.name(), second);
    await Promise.all([mine.cut(), sent.cut()]);
  });

  it('resumes after a token, at another core as well', async () => {
    for (const merchantId of ['m', undefined]) {
      const scope = merchantId === undefined ? {} : { merchantId };
      const stream = await open(scope);
      const names = [await accept(), await relay(), await accept()];
      assert.equal(await stream.name(), names[0]);
      const { resumeToken } = await stream.next();
      await stream.cut();
      const resumed = await open({ ...scope, resumeToken }, 1);
      assert.deepEqual([resumed.token, await resumed.name()], [resumeToken, names[2]]);
      await resumed.cut();
      const again = await open({ ...scope, resumeToken: stream.token }, 1);
      for (const name of names) assert.equal(await again.name(), name);
      await again.cut();
    }
  });

  it('skips nothing and keeps the order, however often it is cut, while two cores write', async () => {
    const start = await open();
    let resumeToken = start.token;
    await start.cut();
    const total = 2 * 8 * 25;
    const written = Promise.all(
      [0, 1].flatMap((core) =>
        Array.from({ length: 8 }, async (_, writer) => {
          for (let round = 0; round < 25; round++)
            await (writer % 2 ? relay({}, core) : accept({ merchantId: writer === 0 ? 'other' : 'm' }, core));
        }),
      ),
    );
    const seen: string[] = [];
    for (let cuts = 0; seen.length < total; cuts++) {
      const stream = await open({ resumeToken }, cuts % 2);
      const most = Math.min(1 + (cuts % 17), total - seen.length);
      for (let count = 0; count < most; count++) {
        const message = await stream.next();
        resumeToken = message.resumeToken;
        seen.push(message.notification?.requestId ?? assert.fail());
      }
      await stream.cut();
    }
    await written;
    const stored = await sql<{ request_id: string }>(stage, 'select request_id from notification order by sequence');
    assert.deepEqual(
      seen,
      stored.slice(-total).map(({ request_id }) => request_id),
    );
  });

  it('catches a merchant up that is far behind what is held in memory', async () => {
    const before = await open({ merchantId: 'bulk' });
    const text = `insert into notification (merchant_id, request_id, kind, status_info, status, amount, currency, body,
      received_at) select case n % 10 when 0 then 'bulk' else 'm' end, 'b' || n, 'payment', 'captured', 'OK', '1',
      'EUR', convert_to(repeat('x', 60000), 'UTF8'), $1 from generate_series(1, 600) n`;
    await sql(stage, text, [new Date(stage.clock.now())]);
    const late = await open();
    const stream = await open({ merchantId: 'bulk', resumeToken: before.token });
    for (let each = 10; each <= 600; each += 10) assert.equal(await stream.name(), `b${each}`);
    await Promise.all([before.cut(), late.cut(), stream.cut()]);
  });

  it('says that a body was purged', async () => {
    const stream = await open();
    const name = await relay();
    await stream.cut();
    await openPurge(stage.database, { notifications: 0, operations: 400 })(new Date(stage.clock.now() + DAY_MS));
    // The core that stored it may have it in memory.
    const again = await open({ resumeToken: stream.token }, 1);
    const { notification: purged } = await again.next();
    assert.deepEqual([purged?.identifier, purged?.bodyPurged, purged?.body.length], [name, true, 0]);
    await again.cut();
  });

  it('rejects what is no token of this stream', async () => {
    const { token, cut } = await open({ merchantId: 'm' });
    await cut();
    const { value } = await stage.channel('internal').operations.watchOperations({})[Symbol.asyncIterator]().next();
    const plain = Buffer.from('r2:7').toString('base64url');
    for (const request of [
      { resumeToken: 'nonsense' },
      { resumeToken: plain },
      { resumeToken: token },
      { merchantId: 'other', resumeToken: token },
      { resumeToken: value.resumeToken },
      { senderId: 'github' },
      { merchantId: '../m' },
    ])
      assert.equal(await why(ask(request)), 'INVALID_REQUEST', JSON.stringify(request));
  });

  it('ends when the database goes back before what it sent, also when as much was stored again', async () => {
    const goBack = await rememberNow(stage);
    const stream = await open();
    await accept();
    const sent = await stream.next();
    await goBack();
    await accept();
    await accept();
    const [ended, resumed] = await Promise.all([
      refusal(stream.next()),
      refusal(ask({ resumeToken: sent.resumeToken }, 1)),
    ]);
    assert.deepEqual(
      [ended.status, ended.reason, resumed.reason],
      ['OUT_OF_RANGE', ...Array(2).fill('STREAM_TOKEN_TOO_OLD')],
    );
    const begun = await open({ resumeToken: stream.token });
    assert((await begun.name()) !== sent.notification?.requestId);
    await begun.cut();
  });

  it('reuses no number after a restore that was announced', async () => {
    const last = async () => (await sql<{ n: string }>(stage, 'select max(sequence) as n from notification'))[0]?.n;
    const goBack = await rememberNow(stage);
    for (let count = 0; count < 3; count++) await accept();
    const lost = await last();
    await goBack();
    await inNameOf('operator/ann', () => moveSequencesAhead(stage.database, new Date()));
    await accept();
    assert(BigInt((await last()) ?? 0) > BigInt(lost ?? 0));
  });

  it('rejects a token that is too old, and takes one that has missed nothing', async () => {
    const stream = await open();
    await accept();
    const { resumeToken } = await stream.next();
    await stream.cut();
    stage.clock.advance(90 * DAY_MS + 1);
    const { status, reason } = await refusal(ask({ resumeToken: stream.token }));
    assert.deepEqual([status, reason], ['OUT_OF_RANGE', 'STREAM_TOKEN_TOO_OLD']);
    await (await open({ resumeToken })).cut();
  });

  it('is for internal services, and for the gateway in the name of a key that manages the webhook', async () => {
    const keyOf = async (merchantId: string, managesWebhook = true) => {
      const { key } = await stage.channel('operator').merchants.createApiKey({ merchantId, managesWebhook });
      return { metadata: { 'x-api-key-sha256': createHash('sha256').update(key).digest('base64') } };
    };
    const attempt = (role: 'gateway' | 'operator', call: object, merchantId = 'm') =>
      stage.client(role, RelayService).watchRelayedNotifications({ merchantId }, call)[Symbol.asyncIterator]().next();
    assert.equal(await why(attempt('operator', {})), 'FORBIDDEN');
    assert.equal(await why(attempt('gateway', {})), 'FORBIDDEN');
    assert.equal(await why(attempt('gateway', await keyOf('m', false))), 'FORBIDDEN');
    assert.equal(await why(attempt('gateway', await keyOf('other'))), 'FORBIDDEN');
    assert.equal(await why(attempt('gateway', await keyOf('m'), '')), 'FORBIDDEN');
    const { value } = await attempt('gateway', await keyOf('m'));
    assert.notEqual(value.resumeToken, '');
  });
});
