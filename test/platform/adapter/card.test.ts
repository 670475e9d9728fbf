import assert from 'node:assert/strict';
import { keptNetworkId } from '../../../platform/adapter/card.ts';

describe('keptNetworkId()', () => {
  const cases: readonly [about: string, said: unknown, kept: string][] = [
    ['as it is', '123456789012345', '123456789012345'],
    ['empty when nothing is said', undefined, ''],
    ['empty when it is null', null, ''],
    ['a number as text', 123, '123'],
    ['cut to what the contract takes', 'n'.repeat(65), 'n'.repeat(64)],
    ['without what the contract does not take', 'a\u0000b\ud800', 'a b\ufffd'],
  ];
  for (const [about, said, kept] of cases)
    it(`keeps it ${about}`, () => assert.deepEqual(keptNetworkId(said), { networkTransactionId: kept }));
});
