import assert from 'node:assert/strict';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { refusal } from '../../fake-core.ts';
import { API_KEY, OTHER_API_KEY, Stage } from '../../stage.ts';
import { CAPTURE, CAPTURE_HOLD, CAPTURE_JSON, CREATE_OCT, NOW, OCT_ID } from '../examples.ts';
import { CAPTURE_KEY, PATH, rightComponents, signedHeaders } from './signer.ts';

const MERCHANTS = [
  { merchantId: 'acme', apiKeys: [API_KEY], captureKey: CAPTURE_KEY },
  { merchantId: 'bolt', apiKeys: [OTHER_API_KEY] },
];
const OCT = { requestId: OCT_ID, merchantId: 'pays', state: 4, amount: 500n, currency: 'EUR', createdAt: NOW };
const BODY = JSON.stringify(CAPTURE_HOLD);

describe('signed captures', () => {
  const stage = new Stage();
  before(async () => {
    await stage.open();
    stage.core.setMerchants(MERCHANTS);
    stage.core.answers.set('capturePreauthorization', () => ({ capture: CAPTURE }));
    await answersWith(401);
  });
  after(() => stage.close());
  beforeEach(() => {
    const used = new Set<unknown>();
    stage.core.forgetCalls();
    stage.core.answers.set('useNonce', ({ nonce }) => {
      const fresh = !used.has(nonce);
      used.add(nonce);
      return { fresh };
    });
  });

  const methods = () => stage.core.calls.map(({ method }) => method);
  const capture = (headers: Record<string, string>, body: string | Uint8Array = BODY) =>
    stage.ask('POST', PATH, { body, headers });

  /** Sends an unsigned capture until the gateway applies the contract. */
  async function answersWith(status: number) {
    let answer = await capture({});
    while (answer.status !== status) answer = await capture({});
  }

  async function refused(headers: Record<string, string>, detail: RegExp, body = BODY) {
    const answer = await capture(headers, body);
    assert.deepEqual([answer.status, answer.body.code], [401, 'SIGNATURE_REQUIRED']);
    assert.match(answer.body.detail, detail);
    assert.ok(!methods().includes('capturePreauthorization'), 'core must not be called');
  }

  it('are captured; the nonce is used first and kept until the signature has expired by every clock', async () => {
    const nowSeconds = Math.floor(Date.now() / 1000) - 60;
    const answer = await capture(signedHeaders({ body: BODY, nowSeconds, parameters: { nonce: '"n-1"' } }));
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, CAPTURE_JSON);
    assert.deepEqual(methods(), ['useNonce', 'capturePreauthorization']);
    const { merchantId, nonce, expiresAt } = stage.core.calls[0]?.request ?? {};
    assert.deepEqual([merchantId, nonce], ['acme', 'n-1']);
    assert.equal(timestampDate(expiresAt as Timestamp).getTime(), (nowSeconds + 600) * 1000);
  });

  it('are for each operation that the contract names, and each is signed for its own path', async () => {
    const apiKey = `hf_${'m'.repeat(43)}`;
    const signed = ['OCT', 'REFUND'];
    stage.core.setMerchants([...MERCHANTS, { merchantId: 'pays', apiKeys: [apiKey], captureKey: CAPTURE_KEY, signed }]);
    stage.core.answers.set('createOct', () => ({ oct: OCT }));
    const body = JSON.stringify(CREATE_OCT);
    const parameters = { keyid: '"pays"' };
    const components = (path: string) => ({ ...rightComponents(body), '@path': path });
    const sign = (path: string) => signedHeaders({ body, parameters, components: components(path) });
    const pay = (headers: object) => stage.ask('POST', '/oct', { body, apiKey, headers: { ...headers } });
    let unsigned = await pay({});
    while (unsigned.body.code === 'UNAUTHENTICATED') unsigned = await pay({});
    assert.equal(unsigned.body.code, 'SIGNATURE_REQUIRED');
    assert.equal((await pay(sign('/refund'))).body.code, 'SIGNATURE_REQUIRED');
    assert.equal((await pay(sign('/oct'))).status, 201);
    const refund = await stage.ask('POST', '/refund', { body: { captureRequestId: OCT.requestId }, apiKey });
    assert.equal(refund.body.code, 'SIGNATURE_REQUIRED');
    assert.equal((await stage.ask('POST', PATH, { body: BODY, apiKey })).status, 200, 'captures need none');
  });

  it('cover the idempotency key, and each attempt under it needs a signature of its own', async () => {
    const headers = signedHeaders({ body: BODY, idempotencyKey: 'k-1' });
    assert.equal((await capture(headers)).status, 200);
    stage.core.forgetCalls();
    await refused(headers, /nonce was used/);
    assert.equal((await capture(signedHeaders({ body: BODY, idempotencyKey: 'k-1' }))).status, 200);
    assert.equal(stage.core.lastRequest.idempotencyKey, 'k-1');
  });

  it('succeed once when one request is sent 20 times at once', async () => {
    const headers = signedHeaders({ body: BODY });
    const answers = await Promise.all(Array.from({ length: 20 }, () => capture(headers)));
    const statuses = answers.map((answer) => answer.status).toSorted();
    assert.deepEqual(statuses, [200, ...Array(19).fill(401)]);
    assert.equal(methods().filter((method) => method === 'capturePreauthorization').length, 1);
  });

  it('are required', async () => {
    await refused({}, /Content-Digest header is missing/);
    const { 'content-digest': digest, 'signature-input': input, signature } = signedHeaders({ body: BODY });
    await refused({ 'content-digest': digest }, /Signature-Input header is missing/);
    await refused({ 'content-digest': digest, 'signature-input': input }, /Signature header is missing/);
    await refused({ 'signature-input': input, signature }, /Content-Digest header is missing/);
    assert.deepEqual(methods(), [], 'a nonce is used only by a valid signature');
  });

  it('fail with any changed byte of the body, even if the JSON is equivalent', async () => {
    const headers = signedHeaders({ body: BODY });
    await refused(headers, /not the digest/, BODY.replace('4000', '4001'));
    await refused(headers, /not the digest/, `${BODY} `);
    await refused(headers, /not the digest/, JSON.stringify(JSON.parse(BODY), null, 1));
    assert.equal((await capture(headers)).status, 200);
  });

  it('reject a signature of another request', async () => {
    const get = { ...rightComponents(BODY), '@method': 'GET' };
    await refused(signedHeaders({ body: BODY, components: get }), /does not verify/);
    const release = { ...rightComponents(BODY), '@path': '/preauthorization/release' };
    await refused(signedHeaders({ body: BODY, components: release }), /does not verify/);
    const keyed = signedHeaders({ body: BODY, idempotencyKey: 'k-1' });
    await refused({ ...keyed, 'idempotency-key': 'k-2' }, /does not verify/);
    const { 'idempotency-key': _, ...unkeyed } = keyed;
    await refused(unkeyed, /components must be/);
  });

  it('reject repeated header lines', async () => {
    const { 'content-digest': digest, ...one } = signedHeaders({ body: BODY });
    const two = signedHeaders({ body: BODY, label: 'sig2' });
    const headers = new Headers({ 'content-digest': digest, authorization: `Bearer ${API_KEY}` });
    headers.set('content-type', 'application/json');
    for (const name of ['signature-input', 'signature'] as const) {
      headers.append(name, one[name]);
      headers.append(name, two[name]);
    }
    const response = await fetch(stage.origin + PATH, { method: 'POST', headers, body: BODY });
    assert.equal(response.status, 401);
    assert.deepEqual(methods(), []);
  });

  it('reveal nothing of the request or the key', async () => {
    const answer = await capture(signedHeaders({ body: BODY, parameters: { keyid: '"zebra"', nonce: '"walrus"' } }));
    assert.equal(answer.status, 401);
    for (const word of ['zebra', 'walrus', 'acme', 'PUBLIC KEY']) assert.ok(!answer.text.includes(word), word);
  });

  it('return 503 while core cannot say whether a nonce is new', async () => {
    stage.core.answers.set('useNonce', () => {
      throw refusal(status.UNAVAILABLE, {});
    });
    const answer = await capture(signedHeaders({ body: BODY, idempotencyKey: 'k-1' }));
    assert.deepEqual([answer.status, answer.body.code], [503, 'UNAVAILABLE']);
    assert.equal(answer.headers.get('retry-after'), '1');
    assert.deepEqual(methods(), ['useNonce'], 'a nonce is not sent twice: the first call may have used it');
  });

  it('are verified before the body is validated', async () => {
    await refused({}, /missing/, '{"amountToCapture":');
    const answer = await capture(signedHeaders({ body: '{}' }), '{}');
    assert.deepEqual([answer.status, answer.body.code], [400, 'INVALID_REQUEST']);
  });

  it('are not verified for merchants whose contract does not require them, even when they sign', async () => {
    for (const headers of [{}, { signature: '(((', 'signature-input': '\u00ff', 'content-digest': 'none' }]) {
      const answer = await stage.ask('POST', PATH, { apiKey: OTHER_API_KEY, body: BODY, headers });
      assert.equal(answer.status, 200);
    }
    assert.deepEqual(methods(), ['capturePreauthorization', 'capturePreauthorization']);
  });

  it('do not affect other routes', async () => {
    stage.core.answers.set('listPreauthorizations', () => ({}));
    const headers = signedHeaders({ components: { '@method': 'GET', '@path': '/preauthorization' } });
    assert.equal((await stage.ask('GET', '/preauthorization', { headers })).status, 200);
    assert.equal((await stage.ask('GET', '/preauthorization')).status, 200);
    assert.deepEqual(methods(), ['listPreauthorizations', 'listPreauthorizations']);
  });

  it('follow changes of the contract', async () => {
    stage.core.setMerchants([{ merchantId: 'acme', apiKeys: [API_KEY] }]);
    await answersWith(200);
  });
});
