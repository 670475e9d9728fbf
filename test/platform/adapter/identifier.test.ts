import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import type { Kind } from '../../../platform/adapter/entry.ts';
import { findingOf, reuseRefusal } from '../../../platform/adapter/identifier.ts';
import { Answer, Finding } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';

const asked = (kind: Kind) => ({ kind, merchantId: 'acme', account: 'a', amount: 100n, memo: 'first', returnUrl: '' });

describe('reuseRefusal()', () => {
  const cases: readonly [string, Kind, object, string | undefined][] = [
    ['takes the same request', 'capture', {}, undefined],
    ['takes what core notes for itself', 'capture', { memo: 'second', returnUrl: 'https://shop.test' }, undefined],
    ['takes a call that does not say the account', 'capture', { account: '' }, undefined],
    ['takes a void that does not say the merchant', 'void', { merchantId: '' }, undefined],
    ['refuses another amount', 'capture', { amount: 101n }, 'identifier_reused'],
    ['refuses another account', 'capture', { account: 'b' }, 'identifier_reused'],
    ['refuses another merchant', 'void', { merchantId: 'other' }, 'identifier_reused'],
    ['refuses a capture that does not say the merchant', 'capture', { merchantId: '' }, 'identifier_reused'],
    ['refuses another kind', 'capture', { kind: 'void' }, 'identifier_reused'],
  ];
  for (const [name, kind, change, code] of cases) {
    it(name, () => assert.equal(reuseRefusal(asked(kind), { ...asked(kind), ...change })?.errorCode, code));
  }

  it('refuses a fenced identifier, whatever is asked', () => {
    assert.equal(reuseRefusal(asked('fence'), asked('fence'))?.errorCode, 'fenced');
  });
});

describe('findingOf()', () => {
  const result = { answer: Answer.APPROVED };
  const cases: readonly [Kind, Answer, object][] = [
    ['fence', Answer.NOT_PERFORMED, { finding: Finding.NEVER_SEEN, fenced: true }],
    ['capture', Answer.UNSPECIFIED, { finding: Finding.AT_WORK }],
    ['capture', Answer.ACCEPTED, { finding: Finding.AT_WORK, result }],
    ['capture', Answer.DECLINED, { finding: Finding.DONE, result }],
  ];
  for (const [kind, answer, reply] of cases) {
    it(`says ${JSON.stringify(reply)} of ${kind}, ${Answer[answer]}`, () => {
      const requestId = uuidv7();
      assert.deepEqual(findingOf({ requestId, kind, answer }, result), { requestId, ...reply });
    });
  }
});
