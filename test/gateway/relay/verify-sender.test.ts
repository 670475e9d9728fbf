import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Stripe from 'stripe';
import type { LiveSender } from '../../../gateway/core/credentials.ts';
import { verifySender } from '../../../gateway/relay/verify-sender.ts';
import { VerificationFailureReason as Reason } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { BODY, NEWER, PRESETS, PUBLIC_KEY, SCHEMES, SECRET, sender, signBytes, standardHeaders } from './senders.ts';

const NOW = 1_700_000_000;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** The word for the result; '' = it is accepted. */
function judge(by: LiveSender | undefined, headers: Record<string, string>, body: string | Buffer = BODY, now = NOW) {
  const { reason } = verifySender(by, { headers, body: Buffer.from(body) }, now);
  return reason === undefined ? '' : Reason[reason];
}

describe('verifySender() with what the makers of webhooks publish', () => {
  it("accepts GitHub's example of validating deliveries", () => {
    const github = sender('hmac-sha256-body', ["It's a Secret to Everybody"], PRESETS.github);
    const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    assert.equal(judge(github, { 'x-hub-signature-256': signature }, 'Hello, World!'), '');
    assert.equal(judge(github, { 'x-hub-signature-256': signature }, 'Hello, World?'), 'WRONG_SIGNATURE');
    assert.equal(judge(github, { 'x-hub-signature-256': signature.slice(7) }, 'Hello, World!'), 'MALFORMED_SIGNATURE');
  });

  it("accepts a signature of Shopify's: Base64, HMAC-SHA256 of the raw body under the app's secret", () => {
    const secret = 'hush-hush-hush-hush';
    const shopify = sender('hmac-sha256-body', [secret], PRESETS.shopify);
    const signature = createHmac('sha256', secret).update(BODY).digest('base64');
    assert.equal(judge(shopify, { 'x-shopify-hmac-sha256': signature }), '');
    assert.equal(judge(shopify, { 'x-shopify-hmac-sha256': signature.replace('=', '') }), 'MALFORMED_SIGNATURE');
  });

  it("accepts the test headers of Stripe's own library", () => {
    const stripe = sender('hmac-sha256-body', ['whsec_test_secret'], PRESETS.stripe);
    const { webhooks } = new Stripe('sk_test_none');
    const header = (timestamp: number, scheme = 'v1') =>
      webhooks.generateTestHeaderString({ payload: BODY, secret: 'whsec_test_secret', timestamp, scheme });
    assert.equal(judge(stripe, { 'stripe-signature': header(NOW) }), '');
    assert.equal(judge(stripe, { 'stripe-signature': `${header(NOW)},v0=${'0'.repeat(64)}` }), '');
    assert.equal(judge(stripe, { 'stripe-signature': header(NOW, 'v0') }), 'MALFORMED_SIGNATURE');
    assert.equal(judge(stripe, { 'stripe-signature': header(NOW - 301) }), 'STALE_TIMESTAMP');
  });

  const file = new URL('../../client/webhooks/standard-webhooks.json', import.meta.url);
  it('accepts the vectors of Standard Webhooks', () => {
    const { vectors } = JSON.parse(readFileSync(file, 'utf8'));
    for (const { secret, id, timestamp, body, signature } of vectors) {
      const headers = { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signature };
      assert.equal(judge(sender('standard-webhooks', [secret]), headers, body, timestamp), '');
    }
  });
});

describe('verifySender()', () => {
  for (const [name, { sender: by, sign }] of Object.entries(SCHEMES)) {
    it(`accepts ${name}, and refuses another body, no signature and another sender's`, () => {
      const headers = sign(NOW) as Record<string, string>;
      assert.equal(judge(by, headers), '');
      assert.equal(judge(by, headers, BODY.replace('1000', '1001')), 'WRONG_SIGNATURE');
      assert.equal(judge(by, {}), 'MISSING_SIGNATURE');
      // A header that came twice is one with a comma; in Standard Webhooks it is a list of signatures anyway.
      const [signed = ''] = Object.keys(headers).filter((header) => /signature/.test(header));
      const twice = { ...headers, [signed]: `${headers[signed]}, ${headers[signed]}` };
      assert.equal(judge(by, twice), name === 'standard-webhooks' ? '' : 'MALFORMED_SIGNATURE');
      assert.equal(judge(undefined, headers), 'UNKNOWN_SENDER');
      for (const { sender: other } of Object.values(SCHEMES))
        if (other !== by) assert.notEqual(judge(other, headers), '');
    });

    it(`accepts ${name} under either of two keys`, () => {
      const { scheme, keys, settings } = by.credentials;
      const dummy = scheme === 'ed25519-body' ? PUBLIC_KEY : NEWER;
      const two = [dummy, ...keys];
      for (const order of [two, two.toReversed()]) {
        const both = { ...by, credentials: { ...by.credentials, settings, keys: order } } as LiveSender;
        assert.equal(judge(both, sign(NOW) as Record<string, string>), '');
      }
    });
  }

  it('never takes the scheme from the request', () => {
    const all = Object.assign({}, ...Object.values(SCHEMES).map(({ sign }) => sign(NOW)));
    const { sender: by } = SCHEMES['hmac-sha256-body'];
    assert.equal(judge(by, all), '');
    const { 'x-hub-signature-256': _, ...others } = all;
    assert.equal(judge(by, others), 'MISSING_SIGNATURE');
  });

  it('accepts a time within the tolerance on both sides, and no other', () => {
    const by = sender('standard-webhooks', [SECRET], { toleranceSeconds: 60 });
    for (const [offset, word] of [
      [60, ''],
      [-60, ''],
      [61, 'STALE_TIMESTAMP'],
      [-61, 'STALE_TIMESTAMP'],
    ] as const) {
      assert.equal(judge(by, standardHeaders('msg_1', NOW + offset, BODY)), word);
    }
  });

  it('accepts no id with a dot, with which the signed text could be cut at another place', () => {
    const { sender: by } = SCHEMES['standard-webhooks'];
    const body = `${NOW}.{}`;
    const headers = standardHeaders('msg_1', NOW, body);
    assert.equal(judge(by, headers, body), '');
    assert.notEqual(judge(by, { ...headers, 'webhook-id': `msg_1.${NOW}` }, '{}'), '');
  });

  it('accepts no time that can be read in two ways', () => {
    const { sender: by, sign } = SCHEMES['hmac-sha256-body, timestamped'];
    const { 'stripe-signature': header } = sign(NOW);
    for (const wrong of [
      header.replace('t=', 't=0'),
      `t=${NOW},${header}`,
      `${header},t=${NOW + 1}`,
      header.replace('t=', 't= '),
      header.replace('t=', 'T='),
      header.replace(`${NOW}`, `${NOW}.0`),
      header.replace('v1=', 'v2='),
      `${header}${',v1=00'.repeat(9)}`,
    ]) {
      assert.notEqual(judge(by, { 'stripe-signature': wrong }), '', wrong);
    }
  });

  it('signs for one merchant: the five fields must name that of the sender', () => {
    const { sender: by, sign } = SCHEMES['service-signature'];
    assert.equal(judge({ ...by, merchantId: 'globex' }, sign()), 'WRONG_SIGNATURE');
    assert.equal(judge(by, sign(), 'no JSON'), 'WRONG_SIGNATURE');
  });

  it('verifies bytes that are no text', () => {
    const bytes = Buffer.from([0, 255, 254, 13, 10]);
    const { sender: by } = SCHEMES['ed25519-body'];
    assert.equal(judge(by, { 'x-signature-ed25519': signBytes(bytes).toString('hex') }, bytes), '');
    const empty = signBytes(Buffer.alloc(0)).toString('hex');
    assert.equal(judge(by, { 'x-signature-ed25519': empty }, Buffer.alloc(0)), '');
  });

  it('accepts no second spelling of an Ed25519 signature', () => {
    const { sender: by } = SCHEMES['ed25519-body'];
    const signature = signBytes(Buffer.from(BODY));
    const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + ORDER;
    const high = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse();
    const malleated = Buffer.concat([signature.subarray(0, 32), high]).toString('hex');
    assert.equal(judge(by, { 'x-signature-ed25519': malleated }), 'MALFORMED_SIGNATURE');
  });
});
