/** Captures signed with a library that merchants would use: npm http-message-signatures (RFC 9421). */
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { createSigner, httpbis } from 'http-message-signatures';
import { useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';
import { openSigningShop } from './signing-shop.ts';

const PATH = '/preauthorization/authorization';
const FIELDS = ['@method', '@path', 'content-digest'];
const ORDER = { tokenId: 'tok_sandbox_ok', currency: 'EUR', terminalId: 'till-1', userId: 'ann', amount: 1000 };
const { privateKey, publicKey } = generateKeyPairSync('ed25519');

describe('a capture signed by http-message-signatures', () => {
  const merchantId = `foreign-${randomBytes(4).toString('hex')}`;
  const stack = forSuite(useStack);
  const shop = forSuite(() => openSigningShop(stack, merchantId, publicKey));

  const place = async (): Promise<string> => (await shop.post('/preauthorization', ORDER)).body.preauthorizationId;
  const bodyOf = (preauthorizationId: string, amountToCapture: number) =>
    JSON.stringify({ preauthorizationId, amountToCapture });
  const capture = (body: string, headers: Record<string, string>) => shop.post(PATH, body, headers);
  const sign = (body: string, signing: Signing = {}) => signedHeaders(stack.file.baseUrl, merchantId, body, signing);

  it('is accepted, each with a signature of its own', async () => {
    const preauthorizationId = await place();
    const body = bodyOf(preauthorizationId, 400);
    const first = await capture(body, await sign(body));
    assert.deepEqual([first.status, first.body.amountCaptured], [200, 400], JSON.stringify(first.body));
    const rest = bodyOf(preauthorizationId, 600);
    const second = await capture(rest, await sign(rest, { fields: FIELDS.toReversed() }));
    assert.deepEqual([second.status, second.body.amountRemaining], [200, 0], JSON.stringify(second.body));
  });

  it('is accepted with an idempotency key', async () => {
    const body = bodyOf(await place(), 400);
    const fields = [...FIELDS, 'idempotency-key'];
    const answer = await capture(body, await sign(body, { fields, headers: { 'idempotency-key': 'order-1' } }));
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  });

  it('is refused when it was changed after it was signed, and captures nothing', async () => {
    const preauthorizationId = await place();
    const body = bodyOf(preauthorizationId, 400);
    const signed = await sign(body);
    const other = bodyOf(preauthorizationId, 1000);
    const stranger = generateKeyPairSync('ed25519').privateKey;
    const tampered: [why: string, sent: string, headers: Record<string, string>][] = [
      ['another amount', other, signed],
      ['another amount and its digest', other, { ...signed, 'content-digest': digestOf(other) }],
      ['an unsigned idempotency key', body, { ...signed, 'idempotency-key': 'order-2' }],
      ['another time', body, { ...signed, 'signature-input': later(String(signed['signature-input'])) }],
      ['another key', body, await sign(body, { key: stranger })],
      ['another signer', body, await sign(body, { keyid: 'somebody-else' })],
      ['fewer components', body, await sign(body, { fields: ['@method', '@path'] })],
      ['another method', body, await sign(body, { method: 'PUT' })],
      ['another path', body, await sign(body, { path: '/preauthorization/release' })],
      ['an old signature', body, await sign(body, { created: new Date(Date.now() - 3_600_000) })],
      ['no signature', body, {}],
    ];
    for (const [why, sent, headers] of tampered) {
      const { status, body: problem } = await capture(sent, headers);
      assert.deepEqual([status, problem.code], [401, 'SIGNATURE_REQUIRED'], why);
    }
    const accepted = await capture(body, signed);
    assert.equal(accepted.status, 200, JSON.stringify(accepted.body));
    const again = await capture(body, signed);
    assert.deepEqual([again.status, again.body.code], [401, 'SIGNATURE_REQUIRED'], 'the same signature twice');
    const released = await shop.post('/preauthorization/release', { preauthorizationId });
    assert.deepEqual([released.body.amountCaptured, released.body.amountReleased], [400, 600]);
  });
});

interface Signing {
  readonly fields?: string[];
  readonly headers?: Record<string, string>;
  readonly key?: KeyObject;
  readonly keyid?: string;
  readonly created?: Date;
  readonly method?: string;
  readonly path?: string;
}

/** Returns the headers that the library sends with a body. */
async function signedHeaders(baseUrl: string, merchantId: string, body: string, signing: Signing) {
  const request = {
    method: signing.method ?? 'POST',
    url: baseUrl + (signing.path ?? PATH),
    headers: { 'content-digest': digestOf(body), ...signing.headers },
  };
  const { headers } = await httpbis.signMessage(
    {
      key: createSigner(signing.key ?? privateKey, 'ed25519', signing.keyid ?? merchantId),
      fields: signing.fields ?? FIELDS,
      params: ['created', 'nonce', 'keyid', 'alg'],
      paramValues: { nonce: randomUUID(), ...(signing.created && { created: signing.created }) },
    },
    request,
  );
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function digestOf(body: string): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
}

function later(signatureInput: string): string {
  return signatureInput.replace(/created=(\d+)/, (_, seconds) => `created=${Number(seconds) + 1}`);
}
