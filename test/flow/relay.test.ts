import assert from 'node:assert/strict';
import crypto, { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { credentials } from '@grpc/grpc-js';
import { Holdfast } from '../../client/holdfast.ts';
import { signNotification, verifyNotification } from '../../client/webhooks/signature.ts';
import { startGateway } from '../../gateway/gateway.ts';
import { GATEWAY_SETTINGS } from '../../gateway/settings.ts';
import { openChannel } from '../../platform/grpc-client.ts';
import { readSettings } from '../../platform/settings.ts';
import { RelayService } from '../../proto/gen/holdfast/v1/relay_pb.js';
import { signingSecret } from '../signing-secret.ts';
import { useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';

describe('the relay', () => {
  const stack = forSuite(useStack);

  it('forwards what verifies, byte for byte and once', async () => {
    const { fields, body } = notification(stack.file.merchantId, '10.50');
    const signature = signNotification(stack.file.signingSecret, fields);
    const first = await send(stack.file.baseUrl, body, signature);
    const second = await send(stack.file.baseUrl, body, signature);
    assert.deepEqual([first.status, second.status], [200, 200]);
    assert.deepEqual([first.duplicate, second.duplicate], [null, 'true']);
    const received = await stack.shop.notified(fields.requestId);
    assert.equal(received.bodyText, body);
    assert.deepEqual([received.kind, received.statusInfo, received.verified], ['payment', 'captured', true]);
    assert.equal((await stack.shop.received(fields.requestId)).length, 1);
  });

  it('constant-time comparison', () => {
    const { fields } = notification('demo', '10.50');
    const secrets = [signingSecret('older'), signingSecret('newer')];
    const signatures = [
      signNotification(signingSecret('older'), fields),
      signNotification(signingSecret('other'), fields),
      'short',
      '',
    ];
    for (const signature of signatures) {
      assert.equal(
        comparisonsOf(() => verifyNotification(secrets, fields, signature)),
        secrets.length,
      );
    }
  });

  it('answers every kind of wrong signature, and an unknown merchant, alike', async () => {
    // A merchant of its own: after many forgeries the relay limits this sender for a while.
    const { merchantId, signingSecret } = stack.file.singleCapture;
    const { fields, body } = notification(merchantId, '10.50');
    const right = signNotification(signingSecret, fields);
    const stranger = notification('stranger', '10.50');
    const wrong: [string, string][] = [
      [body, `${right.startsWith('A') ? 'B' : 'A'}${right.slice(1)}`],
      [body, randomBytes(32).toString('base64')],
      [body, ''],
      [
        body,
        randomBytes(30)
          .toString('latin1')
          .replace(/[^!-~]/g, '?'),
      ],
      [stranger.body, right],
    ];
    const answers = [];
    for (const [text, signature] of wrong) answers.push(await send(stack.file.baseUrl, text, signature));
    for (const answer of answers) {
      assert.equal(answer.status, 401);
      assert.equal(answer.text, answers[0]?.text);
    }
    assert.deepEqual(await stack.shop.received(fields.requestId), []);
  });

  it('changes no hold, whatever it relays about one', async () => {
    const { body: hold } = await stack.shop.post('/preauthorization', {
      tokenId: 'tok_sandbox_ok',
      amount: 1_000,
      currency: 'EUR',
      terminalId: 'till-1',
      userId: 'ann',
    });
    const before = (await stack.shop.get(`/preauthorization/${hold.requestId}`)).body;
    assert.equal(before.status, 'IN_PROGRESS');
    for (const [status, words] of Object.entries({
      OK: [
        'authorized',
        'incremented',
        'extended',
        'captured',
        'refunded',
        'released',
        'reinstated',
        'expiring',
        'paid',
      ],
      KO: ['declined', 'failed', 'expired', 'reversed'],
    })) {
      const { merchantId } = stack.file;
      const fields = { merchantId, requestId: hold.requestId, status, amount: '1000', currency: 'EUR' };
      const signature = signNotification(stack.file.signingSecret, fields);
      for (const word of words) {
        const path = `${word === 'paid' ? 'oct' : 'payment'}/${word}`;
        const answer = await send(stack.file.baseUrl, JSON.stringify(fields), signature, path);
        assert([200, 202].includes(answer.status), `${path}: ${answer.status}`);
      }
    }
    assert.deepEqual((await stack.shop.get(`/preauthorization/${hold.requestId}`)).body, before);
    const { body: operations } = await stack.shop.get(`/operations?holdRequestId=${hold.requestId}`);
    assert.deepEqual(operations.items, [], 'nothing followed the hold');
  });

  it('attempts limited', async () => {
    const secrets = JSON.parse(await readFile(`${stack.dataDir}/secrets.json`, 'utf8'));
    const gateway = await startGateway(
      readSettings(GATEWAY_SETTINGS, {
        PORT: '0',
        CORE_URL: stack.file.coreUrl,
        GATEWAY_TOKEN: secrets.gatewayToken,
        RELAY_ADDRESS_PER_SECOND: '5',
        LOG_LEVEL: 'silent',
      }),
    );
    try {
      await gateway.ready;
      const { body } = notification(stack.file.merchantId, '10.50');
      const attempt = () => send(`http://127.0.0.1:${gateway.port}`, body, randomBytes(32).toString('base64'));
      const answers = await Promise.all(Array.from({ length: 20 }, attempt));
      const limited = answers.filter(({ status }) => status === 429);
      assert(limited.length >= 10, `${limited.length} of 20 were limited`);
      for (const { retryAfter } of limited) assert(Number(retryAfter) >= 1);
    } finally {
      await gateway.close();
    }
  });

  it("brings another sender's notification to an internal service and to the merchant's stream", async () => {
    const { baseUrl, apiKey, merchantId, coreUrl, serviceToken } = stack.file;
    const holdfast = new Holdfast({ baseUrl, apiKey });
    const secret = randomUUID();
    const { senderId } = await holdfast.relaySenders.create({
      ...{ name: 'GitHub', scheme: 'hmac-sha256-body', header: 'X-Hub-Signature-256', encoding: 'hex' },
      ...{ prefix: 'sha256=', idHeader: 'X-GitHub-Delivery', typeHeader: 'X-GitHub-Event', secrets: [secret] },
    });
    const stop = new AbortController();
    const channel = openChannel({
      address: coreUrl,
      credentials: credentials.createInsecure(),
      token: serviceToken,
      timeoutMs: 10_000,
    });
    try {
      const service = channel
        .client(RelayService)
        .watchRelayedNotifications({ senderId }, { signal: stop.signal })
        [Symbol.asyncIterator]();
      const { value: heartbeat } = await service.next();
      assert.equal(heartbeat.notification, undefined);
      const open = Promise.withResolvers<void>();
      const onOpen = () => open.resolve();
      const merchant = holdfast.relayedNotifications.watch({ senderId, signal: stop.signal, onOpen });
      const watched = merchant.next();
      await open.promise;
      const body = Buffer.from('Hello, World! \xff', 'latin1');
      const sent = async (by: string) => {
        const signature = crypto.createHmac('sha256', by).update(body).digest('hex');
        const headers = {
          'x-hub-signature-256': `sha256=${signature}`,
          'x-github-delivery': '72d3',
          'x-github-event': 'ping',
        };
        return (await fetch(`${baseUrl}/webhook/relay/${senderId}`, { method: 'POST', body, headers })).status;
      };
      assert.deepEqual([await sent('another secret'), await sent(secret), await sent(secret)], [401, 200, 200]);
      let { value: message } = await service.next();
      while (!message.notification) ({ value: message } = await service.next());
      const { notification: inside } = message;
      assert.deepEqual([inside.merchantId, inside.senderId, inside.identifier], [merchantId, senderId, '72d3']);
      assert.deepEqual(Buffer.from(inside.body), body);
      const { value: outside } = await watched;
      assert(outside);
      assert.deepEqual(Buffer.from(outside.data.body, 'base64'), body);
      assert.equal(outside.data.requestId, inside.requestId);
      assert.equal(outside.data.headers['x-github-event'], 'ping');
    } finally {
      stop.abort();
      channel.close();
      await holdfast.relaySenders.delete(senderId);
    }
  });

  it('failures logged', async () => {
    const { body } = notification('nobody-we-know', '10.50');
    await send(stack.file.baseUrl, body, randomBytes(32).toString('base64'));
    const line = await lineWith('nobody-we-know', `${stack.dataDir}/logs/gateway.log`);
    const { reason, claimedMerchantId, bodySha256, bodyBytes, address } = JSON.parse(line);
    assert.equal(claimedMerchantId, 'nobody-we-know');
    assert.equal(bodySha256, crypto.createHash('sha256').update(body).digest('hex'));
    assert.equal(bodyBytes, body.length);
    assert(reason && address);
  });
});

/** Waits for the log line that contains a text; processes write their logs with a short delay. */
async function lineWith(text: string, file: string): Promise<string> {
  for (;;) {
    const line = (await readFile(file, 'utf8')).split('\n').find((each) => each.includes(text));
    if (line !== undefined) return line;
    await delay(25);
  }
}

function notification(merchantId: string, amount: string) {
  const fields = { merchantId, requestId: randomUUID(), status: 'OK', amount, currency: 'EUR' };
  const { amount: _, ...rest } = fields;
  return { fields, body: `{ "amount": ${amount}, ${JSON.stringify(rest).slice(1)}` };
}

async function send(baseUrl: string, body: string, signature: string, path = 'payment/captured') {
  const response = await fetch(`${baseUrl}/webhook/processor/${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-service-signature': signature },
  });
  const { headers, status } = response;
  return {
    status,
    text: await response.text(),
    duplicate: headers.get('x-relay-duplicate'),
    retryAfter: headers.get('retry-after'),
  };
}

/** Counts the uses of Node's constant-time comparison meanwhile. */
function comparisonsOf(act: () => void): number {
  const original = crypto.timingSafeEqual;
  let count = 0;
  crypto.timingSafeEqual = (left, right) => {
    count += 1;
    return original(left, right);
  };
  syncBuiltinESMExports();
  try {
    act();
  } finally {
    crypto.timingSafeEqual = original;
    syncBuiltinESMExports();
  }
  return count;
}
