import assert from 'node:assert/strict';
import { openOracle } from '../services/sandbox/oracle.ts';
import { type Stack, useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';

/** A currency that only this test uses, so that every ledger entry in it came from here. */
const TERMINAL = 'till-2';
const ORDER = { tokenId: 'tok_sandbox_ok', amount: 1000, currency: 'EUR', terminalId: TERMINAL, userId: 'ann' };
const TEXT = JSON.stringify(ORDER);

/** A request and the refusal that it must get. */
const CASES: readonly (readonly [name: string, body: string, status: number, code: string])[] = [
  ['an unknown field', JSON.stringify({ ...ORDER, tip: 1 }), 400, 'INVALID_REQUEST'],
  ['a wrong type', JSON.stringify({ ...ORDER, userId: 7 }), 400, 'INVALID_REQUEST'],
  ['a fraction', TEXT.replace('1000', '10.5'), 400, 'INVALID_REQUEST'],
  ['an integer spelled as a fraction', TEXT.replace('1000', '1000.0'), 400, 'INVALID_REQUEST'],
  ['an integer spelled with an exponent', TEXT.replace('1000', '1e3'), 400, 'INVALID_REQUEST'],
  ['an amount as text', TEXT.replace('1000', '"1000"'), 400, 'INVALID_REQUEST'],
  ['a negative amount', TEXT.replace('1000', '-1'), 400, 'INVALID_REQUEST'],
  ['zero', TEXT.replace('1000', '0'), 400, 'INVALID_REQUEST'],
  ['13 digits', TEXT.replace('1000', '1000000000000'), 400, 'INVALID_REQUEST'],
  ['an unknown currency', TEXT.replace('EUR', 'EUX'), 400, 'INVALID_REQUEST'],
  ['duplicate keys', TEXT.replace('{', '{"amount":1,'), 400, 'INVALID_REQUEST'],
  ['__proto__', TEXT.replace('{', '{"__proto__":{"amount":1},'), 400, 'INVALID_REQUEST'],
  ['NUL', TEXT.replace('ann', '\\u0000'), 400, 'INVALID_REQUEST'],
  ['a card number as text', TEXT.replace('ann', '4242424242424242'), 400, 'INVALID_REQUEST'],
  ['a 65 KiB body', TEXT.padEnd(65 * 1024), 413, 'PAYLOAD_TOO_LARGE'],
  ['no JSON', 'amount=1000', 400, 'INVALID_REQUEST'],
  ["another merchant's name", JSON.stringify({ ...ORDER, merchantId: 'somebody' }), 403, 'FORBIDDEN'],
  ['an unknown token', TEXT.replace('tok_sandbox_ok', 'tok_sandbox_invalid'), 400, 'TOKEN_INVALID'],
];

describe('bad input', () => {
  const stack = forSuite(useStack);

  for (const [name, body, status, code] of CASES) {
    it(`refuses ${name} with ${status} ${code}`, async () => {
      const entries = countEntries(stack);
      const answer = await stack.shop.post('/preauthorization', body);
      assert.deepEqual([answer.status, answer.body.code], [status, code]);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
      assert(!/\bat .*\.ts|node_modules|\/services\//.test(JSON.stringify(answer.body)));
      // Only the unknown token reaches the processor, which declines it; all other requests stop earlier.
      if (code !== 'TOKEN_INVALID') assert.equal(countEntries(stack), entries);
    });
  }

  it('refuses a list of a time that ends before it begins, naming both ends', async () => {
    const time = 'createdFrom=2026-11-22T00:00:00Z&createdTo=2026-11-21T00:00:00Z';
    const { status, body } = await stack.shop.get(`/preauthorization?${time}`);
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
    assert.deepEqual(body.errors, [{ field: 'createdTo', message: 'must not be before createdFrom' }]);
  });

  it('refuses another content type with 415', async () => {
    const { status, body } = await stack.shop.post('/preauthorization', TEXT, { 'content-type': 'text/plain' });
    assert.deepEqual([status, body.code], [415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  for (const authorization of ['', 'Bearer ', 'Bearer nonsense', `Bearer hf_${'A'.repeat(43)}`, 'Basic aGY6eA==']) {
    it(`refuses the credential "${authorization}" with 401`, async () => {
      const { status, body } = await stack.shop.post('/preauthorization', TEXT, { authorization });
      assert.deepEqual([status, body.code], [401, 'UNAUTHENTICATED']);
    });
  }

  for (const preauthorizationId of ['', 'nonsense', `pre_${'A'.repeat(32)}`, `pre_${'A'.repeat(60)}`]) {
    it(`returns no hold for an id of ${preauthorizationId.length} characters, and does not repeat it`, async () => {
      const capture = { preauthorizationId, amountToCapture: 1 };
      const { status, body } = await stack.shop.post('/preauthorization/authorization', capture);
      assert.deepEqual([status, body.code], [404, 'PREAUTHORIZATION_NOT_FOUND']);
      if (preauthorizationId !== '') assert(!JSON.stringify(body).includes(preauthorizationId));
    });
  }
});

function countEntries(stack: Stack): number {
  const oracle = openOracle(`${stack.dataDir}/sandbox.sqlite`);
  try {
    return oracle.entries().filter(({ terminalId }) => terminalId === TERMINAL).length;
  } finally {
    oracle.close();
  }
}
