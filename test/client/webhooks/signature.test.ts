import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  decodeSignature,
  InvalidSecret,
  SIGNED_FIELDS,
  type SignedFields,
  signNotification,
  signStandardWebhook,
  verifyNotification,
  verifyStandardWebhook,
} from '../../../client/webhooks/signature.ts';
import { NO_SECRETS } from '../../docs/webhook-cases.ts';
import { signingSecret } from '../../signing-secret.ts';
import legacy from './signature.json' with { type: 'json' };
import standard from './standard-webhooks.json' with { type: 'json' };

const SECRET = signingSecret('seed-test-secret');
const FIELDS: SignedFields = { merchantId: 'M001', requestId: 'REQ-1', status: 'OK', amount: '1000', currency: 'EUR' };
const OTHER = signingSecret('other');
const SIGNATURE = signNotification(SECRET, FIELDS);

describe('signNotification()', () => {
  for (const { secret, signature, ...fields } of legacy.vectors) {
    it(`signs ${Object.values(fields).join(' ')} as the vectors specify`, () => {
      assert.equal(signNotification(secret, fields), signature);
    });
  }

  it('gives two readings of one text the same signature, which is why every merchant has a secret of its own', () => {
    const { secret, a, b, signature } = legacy.ambiguous;
    assert.equal(signNotification(secret, a), signature);
    assert.equal(signNotification(secret, b), signature);
  });

  it('signs the amount as written', () => {
    assert.notEqual(
      signNotification(SECRET, { ...FIELDS, amount: '10.5' }),
      signNotification(SECRET, { ...FIELDS, amount: '10.50' }),
    );
  });
});

describe('verifyNotification()', () => {
  /** The vectors' list of header forms to reject, each made from a valid signature. */
  const FORMS: Record<string, unknown> = {
    'missing header': undefined,
    empty: '',
    '43 characters': SIGNATURE.slice(1),
    '45 characters': `A${SIGNATURE}`,
    'a trailing space': `${SIGNATURE} `,
    'URL-safe alphabet (- and _)': SIGNATURE.replaceAll('+', '-').replaceAll('/', '_'),
    'no padding': SIGNATURE.slice(0, 43),
    'two headers': [SIGNATURE, SIGNATURE],
    'last character changed so that a lenient decoder still yields the same bytes': SIGNATURE.replace(
      /.=$/,
      (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`,
    ),
  };

  it('is tested with every form in the vectors', () => {
    assert.deepEqual(Object.keys(FORMS), legacy.rejected);
    const lenient = FORMS[legacy.rejected.at(-1) as string] as string;
    assert.notEqual(lenient, SIGNATURE);
    assert.deepEqual(Buffer.from(lenient, 'base64'), Buffer.from(SIGNATURE, 'base64'));
    assert.match(SIGNATURE, /[+/]/);
  });

  for (const [form, header] of Object.entries(FORMS)) {
    it(`rejects: ${form}`, () => {
      assert.equal(verifyNotification([SECRET], FIELDS, header), false);
      assert.equal(decodeSignature(header), undefined);
    });
  }

  it('rejects two joined headers, line breaks, and other types', () => {
    for (const header of [
      `${SIGNATURE}, ${SIGNATURE}`,
      `${SIGNATURE}\n`,
      `\r\n${SIGNATURE}`,
      null,
      44,
      {},
      Buffer.from(SIGNATURE),
    ]) {
      assert.equal(verifyNotification([SECRET], FIELDS, header), false);
    }
  });

  it('accepts either of two live secrets, in any order, and nothing without secrets', () => {
    assert.equal(verifyNotification([SECRET, OTHER], FIELDS, SIGNATURE), true);
    assert.equal(verifyNotification([OTHER, SECRET], FIELDS, SIGNATURE), true);
    assert.equal(verifyNotification([OTHER, signingSecret('another')], FIELDS, SIGNATURE), false);
    assert.equal(verifyNotification([], FIELDS, SIGNATURE), false);
  });

  for (const secret of NO_SECRETS) {
    it(`throws for the secret ${JSON.stringify(secret)}, also beside a good one`, () => {
      const forged = signNotification(secret, FIELDS);
      for (const secrets of [[secret], [secret, SECRET], [SECRET, secret]]) {
        assert.throws(() => verifyNotification(secrets, FIELDS, forged), InvalidSecret);
      }
    });
  }

  it('rejects 32 zero bytes, which stand in for a header that cannot be decoded', () => {
    assert.equal(verifyNotification([SECRET], FIELDS, Buffer.alloc(32).toString('base64')), false);
  });

  it('rejects every change of a signed field', () => {
    for (const name of SIGNED_FIELDS) {
      const text = FIELDS[name];
      for (const changed of [`${text}0`, text.slice(1), text.toLowerCase() + text.toUpperCase(), '']) {
        assert.equal(
          verifyNotification([SECRET], { ...FIELDS, [name]: changed }, SIGNATURE),
          false,
          `${name} ${changed}`,
        );
      }
    }
  });

  it('rejects any other text as signature, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String({ minLength: 44, maxLength: 44 }), fc.anything()), (header) => {
        assert.equal(verifyNotification([SECRET], FIELDS, header), header === SIGNATURE);
      }),
    );
  });
});

describe('signStandardWebhook()', () => {
  for (const { secret, id, timestamp, body, signature } of standard.vectors) {
    it(`signs ${id} as the specification's own libraries do`, () => {
      assert.equal(signStandardWebhook(secret, { id, timestampSeconds: timestamp, body }), signature);
      const headers = { id, timestamp: String(timestamp), signature };
      assert.equal(verifyStandardWebhook([secret], headers, Buffer.from(body), timestamp), true);
    });
  }
});

describe('verifyStandardWebhook()', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
  const message = { id: '019a9b1e-7c00-7000-8000-000000000001', timestampSeconds: 1_800_000_000, body: '{"a":1}' };
  const right = {
    id: message.id,
    timestamp: String(message.timestampSeconds),
    signature: signStandardWebhook(secret, message),
  };
  const verify = (headers: object, body = message.body, nowSeconds = message.timestampSeconds) =>
    verifyStandardWebhook([secret], { ...right, ...headers }, body, nowSeconds);

  it('accepts one valid signature among several, from either of two secrets', () => {
    assert.equal(verify({}), true);
    const both = `${signStandardWebhook(other, message)} ${right.signature}`;
    assert.equal(verify({ signature: both }), true);
    assert.equal(verify({ signature: `v1a,abc ${right.signature}` }), true);
    assert.equal(verifyStandardWebhook([other, secret], right, message.body, message.timestampSeconds), true);
  });

  it('rejects another body, id or time', () => {
    assert.equal(verify({}, '{"a":2}'), false);
    assert.equal(verify({ id: 'another' }), false);
    assert.equal(verify({ timestamp: '1800000001' }), false);
  });

  it('rejects what is more than five minutes old or early', () => {
    assert.equal(verify({}, message.body, 1_800_000_300), true);
    assert.equal(verify({}, message.body, 1_800_000_301), false);
    assert.equal(verify({}, message.body, 1_799_999_699), false);
  });

  it('throws for what is no secret, also beside a good one, before it looks at the headers', () => {
    for (const none of NO_SECRETS) {
      for (const secrets of [[none], [none, secret], [secret, none]]) {
        assert.throws(() => verifyStandardWebhook(secrets, {} as typeof right, message.body, 0), InvalidSecret);
      }
      assert.throws(() => signStandardWebhook(none, message), InvalidSecret);
    }
    assert.throws(() => verifyStandardWebhook([undefined as never], right, message.body, 0), InvalidSecret);
  });

  it('rejects malformed headers without an exception', () => {
    const bare = right.signature.slice(3);
    for (const signature of [
      '',
      ' ',
      'v1',
      'v1,',
      bare,
      `v2,${bare}`,
      `v1a,${bare}`,
      `v1,${bare} `.trimEnd().concat('='),
      undefined,
      [],
    ]) {
      assert.equal(verify({ signature }), false, String(signature));
    }
    for (const timestamp of ['', '-1', '1e9', ' 1800000000', '01800000000', '1800000000.0', undefined, 1_800_000_000]) {
      assert.equal(verify({ timestamp }), false, String(timestamp));
    }
    for (const id of ['', undefined, 7]) assert.equal(verify({ id }), false);
    assert.equal(verifyStandardWebhook([], right, message.body, message.timestampSeconds), false);
  });
});
