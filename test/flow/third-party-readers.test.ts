/** Verifies our notifications with the libraries that merchants would use: npm standardwebhooks and npm svix. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { asOperator } from '../../services/quickstart/as-operator.ts';
import { openShop } from '../../services/quickstart/shop.ts';
import { untilKnown } from '../../services/quickstart/until-served.ts';
import { type Stack, useStack } from '../stack.ts';

const ORDER = { currency: 'EUR', terminalId: 'till-1', userId: 'ann', amount: 1000, tokenId: 'tok_sandbox_ok' };

const READERS = [
  ['standardwebhooks', StandardWebhook],
  ['svix', SvixWebhook],
] as const;

interface Received {
  readonly path: string;
  readonly text: string;
  readonly headers: Record<string, string>;
}

describe('third-party libraries', () => {
  let server: Server;
  let received: Received[];
  /** The older secret first. */
  let secrets: string[];

  before(async () => {
    const stack = await useStack();
    const url = await startReceiver();
    ({ received, secrets } = await notifyAll(stack, url));
  });

  after(() => {
    server.close();
    server.closeAllConnections();
  });

  for (const [name, Webhook] of READERS) {
    it(`verify every notification, with either of two live secrets: ${name}`, () => {
      assert.deepEqual(received.map(({ path }) => path.split('/').slice(-2).join('/')).toSorted(), [
        ...['oct/declined', 'oct/paid', 'payment/authorized', 'payment/captured', 'payment/released'],
      ]);
      for (const { path, text, headers } of received) {
        const [kind, statusInfo] = path.split('/').slice(-2);
        for (const secret of secrets) new Webhook(secret).verify(text, headers);
        const { type, hold } = JSON.parse(text);
        assert.deepEqual([type, hold !== undefined], [`${kind}.${statusInfo}`, kind === 'payment']);
      }
    });

    it(`reject what was changed in transit: ${name}`, () => {
      const [{ text, headers } = assert.fail()] = received;
      const webhook = new Webhook(secrets[0] ?? '');
      const refuses = (sent: string, changed: Record<string, string> = {}) =>
        assert.throws(() => webhook.verify(sent, { ...headers, ...changed }), { name: 'WebhookVerificationError' });
      refuses(text.replace('"amount":1000', '"amount":1001'));
      refuses(text.replace('"finalStateDate"', '"finalstateDate"'));
      refuses(`${text} `);
      refuses(text, { 'webhook-id': `${headers['webhook-id']}0` });
      refuses(text, { 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) });
      refuses(text, { 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 3600) });
      refuses(text, { 'webhook-signature': `v1,${randomBytes(32).toString('base64')}` });
      const stranger = new Webhook(`whsec_${randomBytes(32).toString('base64')}`);
      assert.throws(() => stranger.verify(text, headers), { name: 'WebhookVerificationError' });
    });
  }

  async function startReceiver(): Promise<string> {
    received = [];
    server = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += chunk;
      received.push({ path: String(request.url), text, headers: request.headers as Record<string, string> });
      response.end();
      server.emit('received');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Makes operations of several kinds for a merchant, and returns what its endpoint received about them. */
  async function notifyAll({ file }: Stack, webhookUrl: string) {
    const merchantId = `readers-${randomBytes(4).toString('hex')}`;
    const terms = { currencies: ['EUR'], terminals: ['till-1'], allowMultipleCaptures: true, allowOct: true };
    const contract = { ...terms, webhookUrl };
    const { apiKey, older, newer } = await asOperator(file, async (merchants) => {
      const created = await merchants.createMerchant({ merchantId, name: 'Read by others', contract });
      const added = await merchants.addSigningSecret({ merchantId });
      return { apiKey: created.apiKey, older: created.signingSecret, newer: added.secret };
    });
    await untilKnown(file.baseUrl, apiKey);
    const shop = openShop({ ...file, apiKey });
    const { preauthorizationId } = (await shop.post('/preauthorization', ORDER)).body;
    await shop.post('/preauthorization/authorization', { preauthorizationId, amountToCapture: 400 });
    await shop.post('/preauthorization/release', { preauthorizationId });
    await shop.post('/oct', ORDER);
    await shop.post('/oct', { ...ORDER, tokenId: 'tok_sandbox_declined' });
    while (received.length < 5) await once(server, 'received');
    return { received, secrets: [older, newer] };
  }
});
