import assert from 'node:assert/strict';
import { ResultLost } from '../../../../platform/gather.ts';
import type { Core } from '../../../../services/core/rpc/core.ts';
import { write } from '../../../../services/core/rpc/write.ts';

describe('write()', () => {
  const core = { books: { store: () => Promise.reject(new ResultLost('the result is not known')) } } as unknown as Core;
  const requestId = '0192f3b1-7c4e-7d5a-9b1e-2f3a4b5c6d7e';
  const writeUnder = (key: string | undefined) => {
    const at = new Date();
    const claim = { method: 'CAPTURE', fingerprint: '00', key } as const;
    const request = { kind: 'CAPTURE', requestId, claim, idHash: Buffer.alloc(32), at, inquireAt: at } as const;
    return write<{ readonly unknown?: string }>(core, {
      call: { requestId, merchantId: 'acme', claim },
      request,
      agrees: () => assert.fail(),
      answers: { first: () => assert.fail(), now: () => assert.fail(), unknown: (unknown) => ({ unknown }) },
    });
  };

  it('answers that a call without a key may be stored, under its requestId', async () => {
    assert.deepEqual(await writeUnder(undefined), { unknown: requestId });
  });

  it('names no operation for a call with a key, which another call may have used', async () => {
    await assert.rejects(writeUnder('order-1'), { code: 'OUTCOME_UNKNOWN' });
  });
});
