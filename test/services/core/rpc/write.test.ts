import assert from 'node:assert/strict';
import { ResultLost } from '../../../../platform/gather.ts';
import { storedOrLost } from '../../../../services/core/rpc/write.ts';

describe('storedOrLost()', () => {
  const lost = () => Promise.reject(new ResultLost('the result is not known'));
  const claim = { method: 'CAPTURE', fingerprint: '00' } as const;

  it('returns that a call without a key may be stored, under its requestId', async () => {
    assert.equal(await storedOrLost({ claim }, lost()), 'LOST');
  });

  it('names no operation for a call with a key, which another call may have used', async () => {
    await assert.rejects(storedOrLost({ claim: { ...claim, key: 'order-1' } }, lost()), { code: 'OUTCOME_UNKNOWN' });
  });
});
