/** A merchant manages its own webhook through the public API alone. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { verifyNotification, verifyStandardWebhook } from '../../client/webhooks/signature.ts';
import type { Answer } from '../../services/quickstart/shop.ts';
import { serveLocally } from '../local-server.ts';
import { useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';

const ORDER = { tokenId: 'tok_sandbox_ok', currency: 'EUR', terminalId: 'till-1', userId: 'ann', amount: 1000 };
const CONTRACT = { allowMultipleCaptures: true, currencies: ['EUR'], terminals: ['till-1'] };

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe('a merchant and its webhook', () => {
  const stack = forSuite(useStack);
  const received: Received[] = [];
  const receiver = forSuite(() =>
    serveLocally(async (request, response) => {
      received.push({ path: request.url ?? '', headers: request.headers, body: await text(request) });
      response.end('taken');
    }),
  );
  const own = forSuite(openMerchant);

  async function send(bearer: string, method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${stack.file.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = await response.text();
    return { status: response.status, headers: response.headers, body: answer && JSON.parse(answer) };
  }

  /** Creates a merchant with a key for its tills and one that manages the webhook. */
  async function openMerchant() {
    const merchantId = `own-${randomBytes(4).toString('hex')}`;
    const merchants = '/operator/merchants';
    const asOperator = (path: string, body: object) => send(stack.file.operatorToken, 'POST', path, body);
    const created = await asOperator(merchants, { merchantId, name: 'Looks after itself', contract: CONTRACT });
    const added = await asOperator(`${merchants}/${merchantId}/api-keys`, { managesWebhook: true });
    const { apiKeyId, apiKey } = added.body;
    return {
      merchantId,
      apiKeyId,
      apiKey,
      signingSecret: created.body.signingSecret,
      till: (method: string, path: string, body?: object) => send(created.body.apiKey, method, path, body),
      ask: (method: string, path: string, body?: object) => send(apiKey, method, path, body),
    };
  }

  /** What still waits after a failed test would keep the process from ending. */
  let over = false;
  after(() => {
    over = true;
  });

  async function until<T>(read: () => Promise<T | undefined> | T | undefined): Promise<T> {
    while (!over) {
      const found = await read();
      if (found !== undefined) return found;
      await delay(50);
    }
    throw new Error('the tests are over');
  }

  const about = (requestId: string) => until(() => received.find(({ body }) => body.includes(requestId)));
  const isSignedBy = ({ headers, body }: Received, secret: string) => {
    const { merchantId, requestId, status, amount, currency } = JSON.parse(body);
    const fields = { merchantId, requestId, status, amount: String(amount), currency };
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
    return {
      service: verifyNotification([secret], fields, headers['x-service-signature']),
      standard: verifyStandardWebhook([secret], { id, timestamp, signature }, body, Date.now() / 1_000),
    };
  };

  it('sets the address, sees a test fail, moves, replays the test, and it arrives and verifies', async () => {
    assert.equal((await own.ask('POST', '/webhook-endpoint/test')).status, 400);
    const { body: dead } = await own.ask('PUT', '/webhook-endpoint', { webhookUrl: 'http://127.0.0.1:9' });
    assert.equal(dead.webhookUrl, 'http://127.0.0.1:9');
    const { status, body: sent } = await own.ask('POST', '/webhook-endpoint/test');
    assert.equal(status, 201);
    const failed = await until(async () => {
      const { body } = await own.ask('GET', `/deliveries/${sent.deliveryId}`);
      return body.state === 'DEAD' ? body : undefined;
    });
    assert.equal(failed.attempts[0].error, 'the endpoint cannot be reached');
    assert.equal((await own.ask('PUT', '/webhook-endpoint', { webhookUrl: `${receiver.url}/hooks` })).status, 200);
    assert.equal((await own.ask('POST', `/deliveries/${sent.deliveryId}/replay`)).status, 200);
    const taken = await about(sent.requestId);
    assert.equal(taken.path, '/hooks/webhook/processor/payment/test');
    assert.deepEqual(isSignedBy(taken, own.signingSecret), { service: true, standard: true });
    const { body: delivery } = await until(async () => {
      const answer = await own.ask('GET', `/deliveries/${sent.deliveryId}`);
      return answer.body.state === 'DELIVERED' ? answer : undefined;
    });
    assert.equal(delivery.attempts.at(-1).responseHead, 'taken');
    assert.equal(delivery.content.url, `${receiver.url}/hooks/webhook/processor/payment/test`);
    assert.equal(JSON.parse(delivery.content.body).test, true);
    assert.equal((await own.ask('GET', `/operations/${sent.requestId}`)).status, 404, 'no operation is made');
  });

  it('receives a notification that it has lost again, with the same webhook-id', async () => {
    const { body: hold } = await own.till('POST', '/preauthorization', ORDER);
    const first = await about(hold.requestId);
    const { body: list } = await own.ask('GET', `/deliveries?requestId=${hold.requestId}`);
    assert.equal(list.items.length, 1);
    const [{ deliveryId }] = list.items;
    received.length = 0;
    await until(async () => ((await own.ask('GET', '/deliveries?state=PENDING')).body.items.length ? undefined : true));
    assert.equal((await own.ask('POST', `/deliveries/${deliveryId}/replay`)).status, 200);
    const again = await about(hold.requestId);
    assert.equal(again.body, first.body);
    assert.deepEqual([again.headers['webhook-id'], first.headers['webhook-id']], [deliveryId, deliveryId]);
  });

  it('rotates its signing secret, and every notification verifies with one of the two secrets', async () => {
    const notified = async () => about((await own.till('POST', '/preauthorization', ORDER)).body.requestId);
    const { status, body: added } = await own.ask('POST', '/signing-secrets');
    assert.deepEqual([status, /^whsec_/.test(added.signingSecret)], [201, true]);
    assert.equal((await own.ask('POST', '/signing-secrets')).status, 400, 'two are live');
    await until(async () => isSignedBy(await notified(), added.signingSecret).standard || undefined);
    assert.deepEqual(isSignedBy(await notified(), own.signingSecret), { service: true, standard: true });
    const { body: between } = await own.ask('GET', '/webhook-endpoint');
    const [older, newer] = between.signingSecrets;
    assert.equal(newer.signingSecretId, added.signingSecretId);
    assert.doesNotMatch(JSON.stringify(between), /whsec_/);
    assert.equal((await own.ask('DELETE', `/signing-secrets/${older.signingSecretId}`)).status, 204);
    await until(async () => isSignedBy(await notified(), added.signingSecret).service || undefined);
    assert.deepEqual(isSignedBy(await notified(), own.signingSecret), { service: false, standard: false });
    assert.equal((await own.ask('DELETE', `/signing-secrets/${newer.signingSecretId}`)).status, 400, 'the last one');
  });

  it('reaches nothing that belongs to another merchant, and a till’s key may not manage the webhook', async () => {
    const other = await openMerchant();
    const { body: mine } = await own.ask('GET', '/deliveries?pageSize=1');
    const { body: endpoint } = await own.ask('GET', '/webhook-endpoint');
    const [{ deliveryId }] = mine.items;
    const [{ signingSecretId }] = endpoint.signingSecrets;
    const routes = (delivery: string, secret: string) =>
      [
        ['GET', `/deliveries/${delivery}`],
        ['POST', `/deliveries/${delivery}/replay`],
        ['DELETE', `/signing-secrets/${secret}`],
      ] as const;
    const unknown = routes(randomUUID(), randomUUID());
    for (const [index, [method, path]] of routes(deliveryId, signingSecretId).entries()) {
      const foreign = await other.ask(method, path);
      assert.deepEqual([foreign.status, foreign.body.code], [404, 'OPERATION_NOT_FOUND'], path);
      const [, nowhere] = unknown[index] ?? assert.fail();
      assert.deepEqual(foreign.body, (await other.ask(method, nowhere)).body, path);
      assert.equal((await own.till(method, path)).status, 403, path);
    }
    assert.deepEqual((await other.ask('GET', '/deliveries')).body, { items: [] });
    const others = [
      ['GET', '/webhook-endpoint'],
      ['GET', '/deliveries'],
      ['POST', '/webhook-endpoint/test'],
      ['POST', '/signing-secrets'],
      ['PUT', '/webhook-endpoint', { webhookUrl: 'https://thief.example' }],
    ] as const;
    for (const [method, path, body] of others) {
      const { status, body: refused } = await own.till(method, path, body);
      assert.deepEqual([status, refused.code], [403, 'FORBIDDEN'], path);
    }
    const { signingSecrets, webhookUrl } = (await own.ask('GET', '/webhook-endpoint')).body;
    assert.deepEqual([webhookUrl, signingSecrets], [endpoint.webhookUrl, endpoint.signingSecrets]);
  });

  it('loses access at once when its key is revoked, and the audit log names the key', async () => {
    const { merchantId, apiKeyId } = own;
    const audit = await send(stack.file.operatorToken, 'GET', `/operator/audit?target=${merchantId}`);
    const made = audit.body.items.filter(({ actor }: { actor: string }) => actor === `api-key/${apiKeyId}`);
    const actions = new Set(made.map(({ action }: { action: string }) => action));
    assert.deepEqual([...actions].sort(), [
      'delivery.test',
      'merchant.update',
      'signing-secret.add',
      'signing-secret.retire',
    ]);
    const path = `/operator/merchants/${merchantId}/api-keys/${apiKeyId}`;
    assert.equal((await send(stack.file.operatorToken, 'DELETE', path)).status, 204);
    assert.equal((await own.ask('PUT', '/webhook-endpoint', { webhookUrl: null })).status, 401);
  });
});
