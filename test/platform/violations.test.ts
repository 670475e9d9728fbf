import assert from 'node:assert/strict';
import { create } from '@bufbuild/protobuf';
import { violationsOf } from '../../platform/violations.ts';
import { AuthorizeResponseSchema, EntrySchema } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';

const FIRST_S = 946_684_800n;
const END_S = 7_258_118_400n;
const LARGEST = 2n ** 63n - 1n;

describe('violationsOf() for a time', () => {
  const violationsAt = (seconds: bigint, nanos = 0) => {
    const result = { answer: 1, actedAt: { seconds, nanos } };
    return violationsOf(AuthorizeResponseSchema, create(AuthorizeResponseSchema, { result }));
  };

  it('finds none in the years 2000 to 2199', () => {
    for (const [seconds, nanos] of [
      [FIRST_S, 0],
      [END_S - 1n, 999_999_999],
    ] as const)
      assert.deepEqual(violationsAt(seconds, nanos), []);
  });

  it('finds one outside of them, also where no calendar reaches', () => {
    const outside = [-LARGEST - 1n, -(10n ** 15n), -1n, 0n, FIRST_S - 1n, END_S, 10n ** 13n, 10n ** 15n, LARGEST];
    for (const seconds of outside) {
      const [violation, ...others] = violationsAt(seconds);
      assert.deepEqual([violation?.field, others], ['result.acted_at', []], String(seconds));
    }
  });
});

describe('violationsOf() for an entry of a ledger', () => {
  const wrong = (text: string) =>
    violationsOf(EntrySchema, create(EntrySchema, { userId: text, merchantReference: text, memo: text }))
      .map(({ field }) => field)
      .filter((field) => ['user_id', 'merchant_reference', 'memo'].includes(field));

  it('takes back every text that its request could carry', () => {
    for (const text of ['u', '\t=1', 'a\nb', '\u009f']) assert.deepEqual(wrong(text), []);
  });

  it('takes no NUL, which PostgreSQL cannot store', () => {
    assert.deepEqual(wrong('a\0b'), ['user_id', 'merchant_reference', 'memo']);
  });
});
