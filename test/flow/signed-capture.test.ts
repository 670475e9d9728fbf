import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { credentials } from '@grpc/grpc-js';
import { signCapture } from '../../docs/examples/sign-capture/sign-capture.ts';
import { openChannel } from '../../platform/grpc-client.ts';
import { PreauthorizationService } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';
import { openSigningShop } from './signing-shop.ts';

const ORDER = { tokenId: 'tok_sandbox_ok', currency: 'EUR', terminalId: 'till-1', userId: 'ann', amount: 1000 };
const { privateKey, publicKey } = generateKeyPairSync('ed25519');

describe('a signed capture', () => {
  const merchantId = `signs-${randomBytes(4).toString('hex')}`;
  const stack = forSuite(useStack);
  const shop = forSuite(() => openSigningShop(stack, merchantId, publicKey));

  async function place(): Promise<string> {
    const { status, body } = await shop.post('/preauthorization', ORDER);
    assert.equal(status, 201, JSON.stringify(body));
    return body.preauthorizationId;
  }

  const attempt = (preauthorizationId: string, amountToCapture: number, idempotencyKey?: string) => {
    const body = JSON.stringify({ preauthorizationId, amountToCapture });
    const { 'Content-Type': _, ...headers } = signCapture(privateKey, {
      merchantId,
      body: Buffer.from(body),
      idempotencyKey,
    });
    return { body, headers, send: () => shop.post('/preauthorization/authorization', body, headers) };
  };

  it('captures once however often it is sent', async () => {
    const preauthorizationId = await place();
    const { send } = attempt(preauthorizationId, 400);
    const answers = await Promise.all(Array.from({ length: 8 }, send));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, ...Array(7).fill(401)]);
    const rest = await attempt(preauthorizationId, 600).send();
    assert.deepEqual([rest.status, rest.body.amountRemaining], [200, 0]);
  });

  it('returns the same result under its idempotency key, with a new signature', async () => {
    const preauthorizationId = await place();
    const first = await attempt(preauthorizationId, 400, 'order-7').send();
    const again = await attempt(preauthorizationId, 400, 'order-7').send();
    assert.deepEqual([first.status, again.status], [200, 200]);
    assert.deepEqual(again.body, first.body);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
  });

  it('is the only capture that is accepted: not an unsigned one, another amount, or one from inside', async () => {
    const preauthorizationId = await place();
    const { body, headers } = attempt(preauthorizationId, 400);
    for (const [sent, sentHeaders] of [
      [body, {}],
      [body.replace('400', '999'), headers],
    ] as const) {
      const { status, body: problem } = await shop.post('/preauthorization/authorization', sent, sentHeaders);
      assert.deepEqual([status, problem.code], [401, 'SIGNATURE_REQUIRED']);
    }
    const { coreUrl: address, serviceToken: token } = stack.file;
    const inside = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 10_000 });
    const capture = { merchantId, preauthorizationId, amountToCapture: 400n };
    await assert.rejects(inside.client(PreauthorizationService).capturePreauthorization(capture), /UNAUTHENTICATED/);
    inside.close();
    assert.equal((await shop.post('/preauthorization/release', { preauthorizationId })).body.amountReleased, 1000);
  });
});
