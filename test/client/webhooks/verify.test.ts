import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import { Headers as ForeignHeaders } from 'undici';
import { InvalidNotification, InvalidSecret, verify } from '../../../client/webhooks/verify.ts';
import { BODY, CAUSES, headersOf, NOW_SECONDS, OLDER, SECRET } from './causes.ts';

const NOW_MS = NOW_SECONDS * 1_000;
/** As JavaScript calls it, whatever the types say. */
const call = verify as (...args: unknown[]) => unknown;

describe('webhooks.verify()', () => {
  it('returns a genuine notification, from headers of any kind, under each live secret', () => {
    const kinds = [headersOf(BODY), new Headers(headersOf(BODY)), new ForeignHeaders(headersOf(BODY))];
    for (const headers of [...kinds, headersOf(BODY, OLDER)]) {
      assert.equal(verify(headers, Buffer.from(BODY), [SECRET, OLDER], NOW_MS).requestId, 'r');
    }
  });

  it('takes bytes of another realm, as a test runner has them', () => {
    const bytes = runInNewContext('Uint8Array.from(bytes)', { bytes: [...Buffer.from(BODY)] });
    assert(!(bytes instanceof Uint8Array));
    assert.equal(verify(headersOf(BODY), bytes, [SECRET], NOW_MS).requestId, 'r');
  });

  for (const [what, headers, body, secrets, reason] of CAUSES) {
    it(`says ${reason ?? 'nothing'} of ${what}`, () => {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      if (reason === undefined)
        assert.equal((call(headers, bytes, secrets, NOW_MS) as { requestId: string }).requestId, 'r');
      else {
        assert.throws(
          () => call(headers, bytes, secrets, NOW_MS),
          (error) => {
            assert(error instanceof InvalidNotification);
            assert.deepEqual([error.reason, error.message.includes('whsec_')], [reason, false]);
            return true;
          },
        );
      }
    });
  }

  it('never throws a TypeError, whatever it is called with', () => {
    for (const odd of [undefined, null, 0, '', 'text', [], {}, () => undefined, new Map(), Symbol('x')]) {
      for (const args of [
        [odd, BODY, [SECRET]],
        [headersOf(BODY), odd, [SECRET]],
      ])
        assert.throws(() => call(...args, NOW_MS), InvalidNotification);
      const isList = Array.isArray(odd);
      assert.throws(() => call(headersOf(BODY), BODY, odd, NOW_MS), isList ? InvalidNotification : InvalidSecret);
      assert.throws(() => call(headersOf(BODY), BODY, [odd], NOW_MS), InvalidSecret);
    }
  });
});
