import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { verifyNotification } from '../../../../../client/webhooks/signature.ts';
import { verify } from '../../../../../client/webhooks/verify.ts';
import {
  NotificationService,
  type WatchNotificationsResponse,
} from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { KIND_NAMES } from '../../../../../services/core/domain/kinds.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, openShop, payAt, sql } from '../../shop.ts';
import { openStage, refusal, why } from '../../stage.ts';

describe('watchNotifications()', () => {
  const stage = forSuite(() => openStage({ cores: 2 }));
  const acme = forSuite(() =>
    openMerchant(stage, 'acme', { webhookUrl: 'https://merchant.example', notifyHolds: true, notifyExpiringHours: 1 }),
  );
  const quiet = forSuite(() => openMerchant(stage, 'quiet', { notifyHolds: false }));

  async function keyOf(merchantId: string, managesWebhook = true) {
    const { key } = await stage.channel('operator').merchants.createApiKey({ merchantId, managesWebhook });
    return { metadata: { 'x-api-key-sha256': createHash('sha256').update(key).digest('base64') } };
  }

  /** Opens a merchant's stream and reads its first heartbeat. */
  async function open(merchantId: string, resumeToken = '', core = 0) {
    const abort = new AbortController();
    const call = { ...(await keyOf(merchantId)), signal: abort.signal };
    const gateway = stage.channel('gateway', core).opened.client(NotificationService);
    const messages = gateway.watchNotifications({ merchantId, resumeToken }, call)[Symbol.asyncIterator]();
    const { value: first } = await messages.next();
    assert.equal(first.notification, undefined);
    return {
      token: first.resumeToken as string,
      /** The next notification; heartbeats may come before it. */
      async next(): Promise<WatchNotificationsResponse & { headers: Record<string, string> }> {
        for (;;) {
          const { value, done } = await messages.next();
          assert(!done);
          const { notification } = value;
          if (!notification) continue;
          const headers = notification.headers.map(({ name, value: text }: { name: string; value: string }) => [
            name,
            text,
          ]);
          return { ...value, headers: Object.fromEntries(headers) };
        }
      },
      async cut(): Promise<void> {
        abort.abort();
        await messages.next().catch(() => undefined);
      },
    };
  }

  it('sends what an attempt would send: path, body byte for byte, and headers with both signatures', async () => {
    const stream = await open('acme');
    const hold = await acme.hold();
    const { capture } = await openShop(stage, 'acme', 1).capture(hold, 400n);
    const [placed, captured] = [await stream.next(), await stream.next()];
    await stream.cut();
    assert.equal(placed.notification?.path, '/webhook/processor/payment/authorized');
    assert.equal(captured.notification?.path, '/webhook/processor/payment/captured');
    const { body = '' } = captured.notification ?? {};
    const [row] = await sql<{ id: string; body: Buffer }>(
      stage,
      'select id, body from delivery where request_id = $1',
      [capture?.requestId],
    );
    assert.equal(body, row?.body.toString());
    assert.equal(captured.headers['webhook-id'], row?.id);
    const secrets = [acme.signingSecret];
    const { merchantId, requestId, status, amount, currency } = verify(
      captured.headers,
      body,
      secrets,
      stage.clock.now(),
    );
    const fields = { merchantId, requestId, status, amount: String(amount), currency };
    assert(verifyNotification(secrets, fields, captured.headers['x-service-signature']));
    assert.deepEqual([requestId, amount], [capture?.requestId, 400]);
  });

  it('makes the same body from the books when there is none, for every kind of result', async () => {
    const stream = await open('acme');
    const { preauthorization: checkout } = await acme.checkout({ saveCard: true, returnUrl: 'https://shop.example' });
    await payAt(checkout?.checkoutUrl ?? '');
    const hold = await acme.hold({ merchantReference: 'order-1' });
    const { capture } = await acme.capture(hold, 400n);
    await acme.refund({ requestId: capture?.requestId ?? '' }, 150n);
    await acme.increment(hold, 100n);
    stage.clock.advance(60_000);
    await acme.extend(hold);
    await acme.releasePart(hold, 100n);
    await acme.release(hold);
    await acme.oct();
    await refusal(acme.place({ tokenId: 'tok_sandbox_declined' }));
    const short = await acme.hold({ tokenId: 'tok_sandbox_expires_2s' });
    await stage.noticeExpiring();
    const returned = await acme.captured(400n, { tokenId: 'tok_sandbox_refund_returned' });
    await acme.refund(returned);
    stage.clock.advance(2_000);
    await stage.sandbox.reportDue();
    const { oct } = await acme.oct({ tokenId: 'tok_sandbox_oct_returned_in_part' });
    stage.clock.advance(2_000);
    await stage.sandbox.reportDue();
    const operators = await stage.client('operator', OperatorService);
    const correction = { outcome: OperationState.KO, reason: 'the processor says so' };
    for (const requestId of [returned.requestId, oct?.requestId ?? '']) {
      await operators.correctOperation({ ...correction, requestId });
    }
    const taken = await acme.hold({ tokenId: 'tok_sandbox_reversed_reinstated' });
    await acme.capture(taken, 400n);
    while ((await acme.results(taken)).length < 4) {
      stage.clock.advance(1_000);
      await delay(50);
    }
    const keepUntil = timestampFromMs(stage.clock.now() + 3_600_000);
    await acme.hold({ tokenId: 'tok_sandbox_guarantee_short', keepUntil });
    stage.clock.advance(1_500);
    await stage.renewKept();
    await stage.expire();
    const words = ['authorized', 'authorized', 'captured', 'refunded', 'incremented', 'extended'];
    words.push(
      'partially_released',
      'released',
      'paid',
      'declined',
      'authorized',
      'expiring',
      ...['authorized', 'captured', 'refunded', 'refund_returned', 'paid', 'returned', 'corrected', 'corrected'],
      'authorized',
      'captured',
      'reversed',
      'reinstated',
      ...['authorized', 'renewed'],
      'expired',
    );
    const sent: string[] = [];
    for (const word of words) {
      const { notification } = await stream.next();
      assert.equal(notification?.path.split('/').at(-1), word);
      sent.push(notification.body);
    }
    await stream.cut();
    assert.match(sent[0] ?? '', /"tokenData":/);
    assert.match(sent.at(-1) ?? '', new RegExp(short.requestId));
    const kinds = new Set(sent.map((body) => JSON.parse(body).operation));
    assert.deepEqual([...kinds].sort(), KIND_NAMES.toSorted());
    await sql(stage, 'update delivery set body = null');
    const again = await open('acme', stream.token);
    assert.match(sent.at(-1) ?? '', /"sequence":3,"position":\d+\}$/);
    for (const body of sent) assert.equal((await again.next()).notification?.body, body);
    await again.cut();
  });

  it('numbers them as before when the first results of the hold are not kept any more', async () => {
    const hold = await acme.hold();
    await acme.capture(hold, 1n);
    const stream = await open('acme');
    await acme.capture(hold, 2n);
    const body = (await stream.next()).notification?.body ?? '';
    assert.equal(JSON.parse(body).sequence, 3);
    await stream.cut();
    await sql(stage, 'delete from operation where request_id = $1', [hold.requestId]);
    await sql(stage, 'update delivery set body = null');
    const again = await open('acme', stream.token);
    assert.equal((await again.next()).notification?.body, body);
    await again.cut();
  });

  it('sends them without a webhookUrl, under a webhook-id that stays, and stores nothing', async () => {
    const stream = await open('quiet');
    const hold = await quiet.hold();
    const { capture } = await quiet.capture(hold, 400n);
    const { notification, headers } = await stream.next();
    await stream.cut();
    // Without notifyHolds the hold itself is none.
    assert.equal(notification?.path, '/webhook/processor/payment/captured');
    assert.equal(
      verify(headers, notification.body, [quiet.signingSecret], stage.clock.now()).requestId,
      capture?.requestId,
    );
    assert.equal(headers['webhook-id'], capture?.requestId);
    const again = await open('quiet', stream.token, 1);
    assert.deepEqual((await again.next()).headers['webhook-id'], capture?.requestId);
    await again.cut();
    assert.deepEqual(await sql(stage, "select id from delivery where merchant_id = 'quiet'"), []);
  });

  it('resumes after a notification at another core, with none missed or doubled', async () => {
    const stream = await open('acme');
    await acme.hold({ merchantReference: 'one' });
    const { resumeToken } = await stream.next();
    await stream.cut();
    await acme.hold({ merchantReference: 'two' });
    await quiet.hold();
    await acme.hold({ merchantReference: 'three' });
    const again = await open('acme', resumeToken, 1);
    for (const reference of ['two', 'three'])
      assert.match((await again.next()).notification?.body ?? '', new RegExp(reference));
    await again.cut();
  });

  it('signs with all live secrets, read anew for each', async () => {
    const stream = await open('acme');
    const operator = stage.channel('operator');
    const { signingSecret, secret } = await operator.merchants.addSigningSecret({ merchantId: 'acme' });
    await acme.hold();
    assert.equal((await stream.next()).headers['webhook-signature']?.split(' ').length, 2);
    await operator.merchants.retireSigningSecret({
      merchantId: 'acme',
      signingSecretId: signingSecret?.signingSecretId ?? '',
    });
    await acme.hold();
    const { headers, notification } = await stream.next();
    assert.throws(() => verify(headers, notification?.body ?? '', [secret], stage.clock.now()));
    await stream.cut();
  });

  it('is for a key that manages the webhook, of this merchant, alone; and not for operators', async () => {
    const attempt = (role: 'gateway' | 'operator', call: object, resumeToken = '') =>
      stage
        .client(role, NotificationService)
        .watchNotifications({ merchantId: 'acme', resumeToken }, call)
        [Symbol.asyncIterator]()
        .next();
    assert.equal(await why(attempt('operator', {})), 'FORBIDDEN');
    assert.equal(await why(attempt('gateway', {})), 'FORBIDDEN');
    assert.equal(await why(attempt('gateway', await keyOf('acme', false))), 'FORBIDDEN');
    assert.equal(await why(attempt('gateway', await keyOf('quiet'))), 'FORBIDDEN');
    assert.equal(await why(attempt('gateway', await keyOf('acme'), 'nonsense')), 'INVALID_REQUEST');
  });
});
