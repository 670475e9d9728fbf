import assert from 'node:assert/strict';
import { Headers as ForeignHeaders } from 'undici';
import { signStandardWebhook } from '../../../client/webhooks/signature.ts';
import { InvalidNotification, verify } from '../../../client/webhooks/verify.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OLDER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const NOW_MS = Date.UTC(2027, 0, 1);
const BODY = '{"merchantId":"acme","requestId":"r","status":"OK","amount":10,"currency":"EUR"}';

const headersOf = (body: string, secret = SECRET) => ({
  'webhook-id': 'd',
  'webhook-timestamp': String(NOW_MS / 1_000),
  'webhook-signature': signStandardWebhook(secret, { id: 'd', timestampSeconds: NOW_MS / 1_000, body }),
});

describe('webhooks.verify()', () => {
  it('returns a genuine notification, from headers of any kind, under each live secret', () => {
    const kinds = [headersOf(BODY), new Headers(headersOf(BODY)), new ForeignHeaders(headersOf(BODY))];
    for (const headers of [...kinds, headersOf(BODY, OLDER)]) {
      assert.equal(verify(headers, Buffer.from(BODY), [SECRET, OLDER], NOW_MS).requestId, 'r');
    }
  });

  it('refuses another body, another secret, an old one, and no headers', () => {
    const { 'webhook-id': _, ...incomplete } = headersOf(BODY);
    for (const [headers, body, secrets, nowMs] of [
      [headersOf(BODY), BODY.replace('10', '99'), [SECRET], NOW_MS],
      [headersOf(BODY), BODY, [OLDER], NOW_MS],
      [headersOf(BODY), BODY, [], NOW_MS],
      [headersOf(BODY), BODY, [SECRET], NOW_MS + 301_000],
      [incomplete, BODY, [SECRET], NOW_MS],
      [{}, 'no json', [SECRET], NOW_MS],
    ] as const) {
      assert.throws(() => verify(headers, body, secrets, nowMs), InvalidNotification);
    }
  });
});
