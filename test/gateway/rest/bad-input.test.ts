import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { API_KEY, type Ask, OTHER_API_KEY, useStage } from '../stage.ts';
import { CAPTURE_HOLD, CREATE_HOLD, CREATE_OCT, HOLD_ID, PREAUTHORIZATION_ID } from './examples.ts';

const CARD = '4242424242424242';
const NUL = '\u0000';

/** A request and its refusal: status, code, and the fields named in errors[]. */
type Case = [name: string, path: string, ask: Ask, status: number, code: string, ...fields: string[]];

const HOLD = '/preauthorization';
const CAPTURE = '/preauthorization/authorization';
const RELEASE = '/preauthorization/release';

/** A valid body with one fault, as source text where JSON.stringify cannot produce it. */
const hold = (wrong: object) => ({ body: { ...CREATE_HOLD, ...wrong } });
const raw = (valid: object, more: string) => ({ body: `${JSON.stringify(valid).slice(0, -1)},${more}}` });
const { amount: _, ...withoutAmount } = CREATE_HOLD;
const { amountToCapture: __, ...withoutAmountToCapture } = CAPTURE_HOLD;

const AMOUNTS = [
  '1.5',
  '5.0',
  '1e2',
  '1E2',
  '"5"',
  '-1',
  '-0',
  '0',
  '1000000000000',
  '1e400',
  '12345678901234567890',
  'null',
  'true',
  '[1]',
  '{}',
];

const CASES: Case[] = [
  ...AMOUNTS.map(
    (amount): Case => [
      `amount ${amount}`,
      HOLD,
      raw(withoutAmount, `"amount":${amount}`),
      400,
      'INVALID_REQUEST',
      'amount',
    ],
  ),
  ...AMOUNTS.map(
    (amount): Case => [
      `amountToCapture ${amount}`,
      CAPTURE,
      raw(withoutAmountToCapture, `"amountToCapture":${amount}`),
      400,
      'INVALID_REQUEST',
      'amountToCapture',
    ],
  ),
  ['amount missing', HOLD, { body: withoutAmount }, 400, 'INVALID_REQUEST', 'amount'],
  ['every field missing', HOLD, { body: {} }, 400, 'INVALID_REQUEST', 'amount', 'currency', 'terminalId', 'userId'],
  ['two unknown fields', HOLD, hold({ colour: 1, 'x-y': 2 }), 400, 'INVALID_REQUEST', 'colour', 'x-y'],
  [
    'an unknown field with a card number for its name',
    HOLD,
    hold({ [CARD]: 1 }),
    400,
    'INVALID_REQUEST',
    '(unprintable)',
  ],
  ['an unknown OCT field', '/oct', { body: { ...CREATE_OCT, saveCard: true } }, 400, 'INVALID_REQUEST', 'saveCard'],
  [
    'an unknown capture field',
    CAPTURE,
    { body: { ...CAPTURE_HOLD, tokenId: 'tok_sandbox_ok' } },
    400,
    'INVALID_REQUEST',
    'tokenId',
  ],
  ['duplicate keys', HOLD, raw(CREATE_HOLD, '"amount":1'), 400, 'INVALID_REQUEST', 'amount'],
  ['duplicate keys, escaped', HOLD, raw(CREATE_HOLD, '"am\\u006funt":1'), 400, 'INVALID_REQUEST', 'amount'],
  ['duplicate keys in metadata', HOLD, raw(CREATE_HOLD, '"metadata":{"a":"1","a":"1"}'), 400, 'INVALID_REQUEST', 'a'],
  ['__proto__', HOLD, raw(CREATE_HOLD, '"__proto__":{"amount":1}'), 400, 'INVALID_REQUEST', '__proto__'],
  [
    '__proto__ in metadata',
    HOLD,
    raw(CREATE_HOLD, '"metadata":{"__proto__":"1"}'),
    400,
    'INVALID_REQUEST',
    '__proto__',
  ],
  ['constructor', HOLD, raw(CREATE_HOLD, '"constructor":{}'), 400, 'INVALID_REQUEST', 'constructor'],
  ['currency unknown', HOLD, hold({ currency: 'ABC' }), 400, 'INVALID_REQUEST', 'currency'],
  ['currency in small letters', HOLD, hold({ currency: 'eur' }), 400, 'INVALID_REQUEST', 'currency'],
  ['currency of the wrong type', HOLD, hold({ currency: 978 }), 400, 'INVALID_REQUEST', 'currency'],
  ['NUL in userId', HOLD, hold({ userId: `a${NUL}b` }), 400, 'INVALID_REQUEST', 'userId'],
  ['NUL in merchantReference', HOLD, hold({ merchantReference: NUL }), 400, 'INVALID_REQUEST', 'merchantReference'],
  ['NUL in a metadata value', HOLD, hold({ metadata: { a: NUL } }), 400, 'INVALID_REQUEST', 'metadata.a'],
  [
    'preauthorizationId of the wrong type',
    CAPTURE,
    { body: { ...CAPTURE_HOLD, preauthorizationId: 1 } },
    400,
    'INVALID_REQUEST',
    'preauthorizationId',
  ],
  [
    'half a surrogate pair',
    HOLD,
    raw({ ...CREATE_HOLD, userId: undefined }, '"userId":"\\ud800"'),
    400,
    'INVALID_REQUEST',
    'userId',
  ],
  ['a card number as description', HOLD, hold({ description: CARD }), 400, 'INVALID_REQUEST', 'description'],
  [
    'a card number within description',
    HOLD,
    hold({ description: `order ${CARD}.` }),
    400,
    'INVALID_REQUEST',
    'description',
  ],
  ['a grouped card number', HOLD, hold({ description: '4242 4242 4242 4242' }), 400, 'INVALID_REQUEST', 'description'],
  ['a card number as a metadata value', HOLD, hold({ metadata: { a: CARD } }), 400, 'INVALID_REQUEST', 'metadata.a'],
  [
    'a card number as a metadata key',
    HOLD,
    hold({ metadata: { [CARD]: 'a' } }),
    400,
    'INVALID_REQUEST',
    'metadata.(unprintable)',
  ],
  ['a card number as tokenId', HOLD, hold({ tokenId: CARD }), 400, 'INVALID_REQUEST', 'tokenId'],
  [
    'a card number in returnUrl',
    HOLD,
    hold({ returnUrl: `https://a.example/${CARD}` }),
    400,
    'INVALID_REQUEST',
    'returnUrl',
  ],
  ['tokenId null', HOLD, hold({ tokenId: null }), 400, 'INVALID_REQUEST', 'tokenId'],
  ['tokenId empty', HOLD, hold({ tokenId: '' }), 400, 'INVALID_REQUEST', 'tokenId'],
  ['userId too long', HOLD, hold({ userId: 'x'.repeat(65) }), 400, 'INVALID_REQUEST', 'userId'],
  ['saveCard as text', HOLD, hold({ saveCard: 'true' }), 400, 'INVALID_REQUEST', 'saveCard'],
  [
    'finalCapture as a number',
    CAPTURE,
    { body: { ...CAPTURE_HOLD, finalCapture: 1 } },
    400,
    'INVALID_REQUEST',
    'finalCapture',
  ],
  ['metadata with a number', HOLD, hold({ metadata: { a: 1 } }), 400, 'INVALID_REQUEST', 'metadata.a'],
  ['metadata as a list', HOLD, hold({ metadata: ['a'] }), 400, 'INVALID_REQUEST', 'metadata'],
  [
    'metadata with 21 pairs',
    HOLD,
    hold({ metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, ''])) }),
    400,
    'INVALID_REQUEST',
    'metadata',
  ],
  [
    'metadata with a key too long',
    HOLD,
    hold({ metadata: { ['k'.repeat(41)]: '' } }),
    400,
    'INVALID_REQUEST',
    `metadata.${'k'.repeat(41)}`,
  ],
  ['release without a name', RELEASE, { body: {} }, 400, 'INVALID_REQUEST', 'preauthorizationId'],
  [
    'release with two names',
    RELEASE,
    { body: { preauthorizationId: PREAUTHORIZATION_ID, requestId: HOLD_ID } },
    400,
    'INVALID_REQUEST',
    'preauthorizationId',
  ],
  ['a malformed merchantId', HOLD, hold({ merchantId: '1' }), 400, 'INVALID_REQUEST', 'merchantId'],
  ['another merchant', HOLD, hold({ merchantId: 'bolt' }), 403, 'FORBIDDEN'],
  ['another merchant at capture', CAPTURE, { body: { ...CAPTURE_HOLD, merchantId: 'bolt' } }, 403, 'FORBIDDEN'],
  ...[
    'ftp://a.example/',
    'http://shop.example/',
    'javascript:alert(1)',
    'https://u:p@a.example/',
    '/done',
    'https://a.example/ b',
    'http://127.0.0.1.evil.example/',
  ].map(
    (returnUrl): Case => [`returnUrl ${returnUrl}`, HOLD, hold({ returnUrl }), 400, 'INVALID_REQUEST', 'returnUrl'],
  ),
  ...[
    '',
    '{',
    '[]',
    '"text"',
    'null',
    '42',
    '{"a":1}x',
    `\ufeff${JSON.stringify(CREATE_HOLD)}`,
    `${'['.repeat(5000)}`,
  ].map((body): Case => [`body ${body.slice(0, 12)}`, HOLD, { body }, 400, 'INVALID_REQUEST', 'body']),
  ['invalid UTF-8', HOLD, { body: Buffer.from('7b2261223a22ff227d', 'hex') }, 400, 'INVALID_REQUEST', 'body'],
  ['65 KiB', HOLD, hold({ userId: 'x'.repeat(65 * 1024) }), 413, 'PAYLOAD_TOO_LARGE'],
  [
    'the type text/plain',
    HOLD,
    { body: CREATE_HOLD, headers: { 'content-type': 'text/plain' } },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  [
    'a form',
    HOLD,
    { body: 'amount=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  [
    'another charset',
    HOLD,
    { body: CREATE_HOLD, headers: { 'content-type': 'application/json; charset=latin1' } },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  ['no type and no body', HOLD, {}, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['gzip', HOLD, { body: CREATE_HOLD, headers: { 'content-encoding': 'gzip' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  [
    'an empty idempotency key',
    HOLD,
    { body: CREATE_HOLD, headers: { 'idempotency-key': '' } },
    400,
    'INVALID_REQUEST',
    'Idempotency-Key',
  ],
  [
    'an idempotency key too long',
    HOLD,
    { body: CREATE_HOLD, headers: { 'idempotency-key': 'k'.repeat(256) } },
    400,
    'INVALID_REQUEST',
    'Idempotency-Key',
  ],
  [
    'a space in the idempotency key',
    HOLD,
    { body: CREATE_HOLD, headers: { 'idempotency-key': 'a b' } },
    400,
    'INVALID_REQUEST',
    'Idempotency-Key',
  ],
  ['no key', HOLD, { body: CREATE_HOLD, apiKey: null }, 401, 'UNAUTHENTICATED'],
  ['a wrong key', HOLD, { body: CREATE_HOLD, apiKey: `hf_${'c'.repeat(43)}` }, 401, 'UNAUTHENTICATED'],
  ['a wrong key before a wrong body', HOLD, { body: '{', apiKey: 'x' }, 401, 'UNAUTHENTICATED'],
];

describe('REST, bad input', () => {
  const stage = useStage();

  for (const [name, path, ask, status, code, ...fields] of CASES) {
    it(`refuses ${name} on ${path} with ${status}`, async () => {
      const answer = await stage.ask('POST', path, ask);
      assert.equal(answer.headers.get('content-type'), 'application/problem+json', answer.text);
      assert.deepEqual([answer.status, answer.body.status, answer.body.code], [status, status, code]);
      assert.deepEqual(
        (answer.body.errors ?? []).map((error: { field: string }) => error.field),
        fields,
        answer.text,
      );
      assert.deepEqual(stage.core.calls, [], 'core is not called');
      assert.doesNotMatch(answer.text, /4242|\bat .*\.ts|node_modules/);
    });
  }

  it('accepts values just within the limits', async () => {
    stage.core.answers.set('createPreauthorization', () => ({ preauthorization: { requestId: HOLD_ID }, state: 2 }));
    const fields = {
      amount: 999_999_999_999,
      userId: 'é'.repeat(64),
      merchantReference: 'order-1700000000000',
      metadata: { ['k'.repeat(40)]: 'v'.repeat(500), empty: '' },
      returnUrl: 'https://shop.example/done?order=1700000000000',
    };
    const headers = { 'content-type': 'application/json; charset=UTF-8', 'idempotency-key': '~'.repeat(255) };
    const answer = await stage.ask('POST', HOLD, { ...hold(fields), headers });
    assert.equal(answer.status, 202, answer.text);
  });

  it('refuses two idempotency keys', async () => {
    const headers = {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
      'idempotency-key': ['a', 'b'],
    };
    const asking = request(stage.origin + HOLD, { method: 'POST', headers, agent: false });
    asking.end(JSON.stringify(CREATE_HOLD));
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    assert.equal(response.statusCode, 400);
    assert.match(await text(response), /Idempotency-Key/);
    assert.deepEqual(stage.core.calls, []);
  });

  it("answers for another merchant's hold as for an unknown one", async () => {
    const ask = { body: CAPTURE_HOLD, apiKey: OTHER_API_KEY };
    stage.core.answers.set('capturePreauthorization', ({ merchantId }) => {
      assert.equal(merchantId, 'bolt');
      return { capture: { state: 2 } };
    });
    assert.equal((await stage.ask('POST', CAPTURE, ask)).status, 202);
  });
});
