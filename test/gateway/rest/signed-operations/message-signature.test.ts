import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { Problem } from '../../../../gateway/http/problem.ts';
import { demandContentDigest } from '../../../../gateway/rest/signed-operations/demand-signature.ts';
import { verifyMessageSignature } from '../../../../gateway/rest/signed-operations/message-signature.ts';
import { CAPTURE_KEY, digestOf, PATH, rightComponents, type Signing, signedHeaders } from './signer.ts';

const NOW = 1_800_000_000;
const BODY = '{"amountToCapture":4000}';
const OTHER = generateKeyPairSync('ed25519');

type Headers = ReturnType<typeof signedHeaders>;

function verifyHeaders(headers: Partial<Headers>, request: { method?: string; path?: string } = {}, nowSeconds = NOW) {
  return verifyMessageSignature(
    {
      method: 'POST',
      path: PATH,
      ...request,
      contentDigest: headers['content-digest'] ?? '',
      idempotencyKey: headers['idempotency-key'],
      signatureInput: headers['signature-input'] ?? '',
      signature: headers.signature ?? '',
    },
    { publicKey: CAPTURE_KEY, keyid: 'acme', nowSeconds },
  );
}

const signed = (signing: Signing = {}) => signedHeaders({ body: BODY, nowSeconds: NOW, ...signing });

function refuses(headers: Partial<Headers>, detail: RegExp, request = {}) {
  assert.throws(
    () => verifyHeaders(headers, request),
    (error) =>
      error instanceof Problem && error.code === 'SIGNATURE_REQUIRED' && detail.test(error.details.detail ?? ''),
  );
}

describe('verifyMessageSignature()', () => {
  it('accepts a valid signature and returns its nonce and time', () => {
    const { nonce, createdSeconds } = verifyHeaders(signed({ parameters: { nonce: '"n-1"' } }));
    assert.deepEqual([nonce, createdSeconds], ['n-1', NOW]);
  });

  it('accepts the components in any order, any label, and no alg', () => {
    const { '@method': method = '', '@path': path = '', ...rest } = rightComponents(BODY, 'k-1');
    const components = { ...rest, '@path': path, '@method': method };
    verifyHeaders(signed({ components, idempotencyKey: 'k-1', label: 'merchant_1', parameters: { alg: undefined } }));
  });

  it('accepts a nonce of 1 and of 128 characters, with quotes', () => {
    for (const nonce of ['x', '\\"'.repeat(64), ' '.repeat(128)]) {
      const written = nonce.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
      assert.equal(verifyHeaders(signed({ parameters: { nonce: `"${written}"` } })).nonce, nonce);
    }
  });

  it('accepts signatures created up to 5 minutes before or after its own time', () => {
    const headers = signed();
    for (const seconds of [-300, 0, 300]) verifyHeaders(headers, {}, NOW + seconds);
    for (const seconds of [-301, 301]) assert.throws(() => verifyHeaders(headers, {}, NOW + seconds), Problem);
  });

  it('respects expires', () => {
    verifyHeaders(signed({ parameters: { expires: String(NOW) } }));
    refuses(signed({ parameters: { expires: String(NOW - 1) } }), /has expired/);
    refuses(signed({ parameters: { expires: '"soon"' } }), /expires must be/);
  });

  const right = rightComponents(BODY);
  const without = (name: string) => Object.fromEntries(Object.entries(right).filter(([key]) => key !== name));
  const COMPONENTS = /signed components must be/;
  const cases: Record<string, [Partial<Headers>, RegExp]> = {
    'no headers at all': [{}, /Signature-Input header is missing/],
    'no Signature': [{ ...signed(), signature: '' }, /Signature header is missing/],
    'another key': [signed({ key: OTHER.privateKey }), /does not verify/],
    'no @method': [signed({ components: without('@method') }), COMPONENTS],
    'no @path': [signed({ components: without('@path') }), COMPONENTS],
    'no content-digest': [signed({ components: without('content-digest') }), COMPONENTS],
    'no components': [signed({ components: {} }), COMPONENTS],
    'one component more': [signed({ components: { ...right, '@authority': 'localhost' } }), COMPONENTS],
    'another instead': [signed({ components: { ...without('@path'), '@query': '?' } }), COMPONENTS],
    'a component twice': [signed({ components: { ...without('@path'), '"@method"': 'POST' } }), COMPONENTS],
    'a component with a parameter': [
      signed({ components: { ...without('@method'), '"@method";req': 'POST' } }),
      /without parameters/,
    ],
    'a component in capitals': [
      signed({ components: { ...without('content-digest'), 'Content-Digest': digestOf(BODY) } }),
      COMPONENTS,
    ],
    'the idempotency key not signed': [{ ...signed(), 'idempotency-key': 'k-1' }, COMPONENTS],
    'an idempotency key signed, not sent': [signed({ components: rightComponents(BODY, 'k-1') }), COMPONENTS],
    'another idempotency key': [{ ...signed({ idempotencyKey: 'k-1' }), 'idempotency-key': 'k-2' }, /does not verify/],
    'another digest': [{ ...signed(), 'content-digest': digestOf('{}') }, /does not verify/],
    'no created': [signed({ parameters: { created: undefined } }), /created must be/],
    'created as text': [signed({ parameters: { created: `"${NOW}"` } }), /created must be/],
    'created in fractions': [signed({ parameters: { created: `${NOW}.5` } }), /created must be/],
    'created as a date': [signed({ parameters: { created: `@${NOW}` } }), /created must be|dictionary/],
    'created before time': [signed({ parameters: { created: '-1' } }), /created must be/],
    'created as 15 digits': [signed({ parameters: { created: '999999999999999' } }), /5 minutes/],
    'no nonce': [signed({ parameters: { nonce: undefined } }), /nonce must be/],
    'an empty nonce': [signed({ parameters: { nonce: '""' } }), /nonce must be/],
    'a nonce of 129 characters': [signed({ parameters: { nonce: `"${'n'.repeat(129)}"` } }), /nonce must be/],
    'a nonce that is a token': [signed({ parameters: { nonce: 'n-1' } }), /nonce must be/],
    'a nonce in bytes': [signed({ parameters: { nonce: ':AAAA:' } }), /nonce must be/],
    'no keyid': [signed({ parameters: { keyid: undefined } }), /keyid must be/],
    'another keyid': [signed({ parameters: { keyid: '"bolt"' } }), /keyid must be the merchantId/],
    'another alg': [signed({ parameters: { alg: '"hmac-sha256"' } }), /alg must be/],
    'an unknown parameter': [signed({ parameters: { tag: '"other-app"' } }), /only signature parameters/],
    'a parameter twice': [
      { ...signed(), 'signature-input': `${signed()['signature-input']};nonce="again"` },
      /canonical/,
    ],
    'components that are a string': [{ ...signed(), 'signature-input': 'sig1="@method"' }, /list the signed/],
    'a space too many': [
      { ...signed(), 'signature-input': signed()['signature-input'].replace('(', '( ') },
      /canonical/,
    ],
    'another label': [{ ...signed(), signature: signed({ label: 'sig2' }).signature }, /under the name/],
    'two inputs': [
      { ...signed(), 'signature-input': `${signed()['signature-input']}, b=("@method")` },
      /name one signature/,
    ],
    'two signatures': [{ ...signed(), signature: `${signed().signature}, b=:AAAA:` }, /one signature/],
    'the same label twice': [{ ...signed(), signature: `sig1=:AAAA:, ${signed().signature}` }, /canonical/],
    'a signature with parameters': [{ ...signed(), signature: `${signed().signature};a` }, /one signature/],
    'a signature of 0 bytes': [{ ...signed(), signature: 'sig1=::' }, /does not verify/],
    'a signature of 63 bytes': [{ ...signed(), signature: `sig1=:${'A'.repeat(84)}:` }, /does not verify/],
    'a signature that is text': [{ ...signed(), signature: 'sig1="AAAA"' }, /one signature/],
    'a signature of zeros': [
      { ...signed(), signature: `sig1=:${Buffer.alloc(64).toString('base64')}:` },
      /does not verify/,
    ],
  };
  for (const [name, [headers, detail]] of Object.entries(cases)) {
    it(`refuses ${name}`, () => refuses(headers, detail));
  }

  it('refuses another method or path', () => {
    refuses(signed(), /does not verify/, { method: 'GET' });
    refuses(signed(), /does not verify/, { path: `${PATH}/` });
    refuses(signed({ components: { ...right, '@method': 'GET' } }), /does not verify/);
    refuses(signed({ components: { ...right, '@path': '/preauthorization' } }), /does not verify/);
  });

  it('accepts none of 2 000 mutated header pairs, and throws nothing but refusals', () => {
    const headers = signed({ idempotencyKey: 'k-1' });
    const mutilated = fc.oneof(
      fc.record({ name: HEADER, how: MUTATION }).map(({ name, how }) => ({ ...headers, [name]: how(headers[name]) })),
      fc.record({ 'signature-input': FIELD, signature: FIELD, 'content-digest': FIELD }),
      FIELD.map((text) => ({ ...headers, 'signature-input': text })),
      FIELD.map((text) => ({ ...headers, signature: text })),
    );
    const same = (other: Partial<Headers>) => HEADERS.every((name) => other[name] === headers[name]);
    fc.assert(
      fc.property(mutilated, (other) => {
        fc.pre(!same(other));
        refuses(other, /./);
      }),
      { numRuns: 2000 },
    );
  });
});

const HEADERS = ['signature-input', 'signature', 'content-digest'] as const;
const HEADER = fc.constantFrom(...HEADERS);
const CHARACTER = fc.oneof(
  fc.constantFrom(...'"\\;=:(),@?%*-._ \t0aZ/+~\u00ff'),
  fc.string({ minLength: 1, maxLength: 1 }),
);
/** Cuts, duplicates, replaces or inserts at a random position. */
const MUTATION = fc
  .record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(3),
    insert: fc.array(CHARACTER, { maxLength: 4 }),
  })
  .map(({ at, cut, insert }) => (text: string) => {
    const index = Math.floor(at * text.length);
    return text.slice(0, index) + insert.join('') + text.slice(index + cut);
  });
/** Texts that test the limits of a structured-fields parser. */
const FIELD = fc
  .array(
    fc.constantFrom(
      ...[
        'sig1',
        '=',
        '(',
        ')',
        '"@method"',
        '"@path"',
        ';',
        'created',
        `${NOW}`,
        '1.5',
        '-',
        '@999999999999999',
        '?1',
      ],
      ...[
        'nonce',
        '"',
        '"n"',
        ':',
        ':AAAA:',
        ':=A:',
        '%"a%ff"',
        '%',
        ',',
        ' ',
        '\t',
        '*',
        'keyid="acme"',
        '\u00e9',
        '\\',
      ],
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('demandContentDigest()', () => {
  const body = Buffer.from(BODY);

  it('accepts the SHA-256 of the body, alone or beside others', () => {
    demandContentDigest(digestOf(BODY), body);
    demandContentDigest(`sha-512=:AAAA:, ${digestOf(BODY)}`, body);
  });

  const sha256 = digestOf(BODY).slice('sha-256='.length);
  for (const header of [
    '',
    digestOf('{}'),
    `sha-512=${sha256}`,
    `SHA-256=${sha256}`,
    `sha-256=${sha256.replaceAll(':', '"')}`,
    'sha-256',
    'sha-256=::',
    'sha-256=:AAAA:',
    'sha-256=()',
    `sha-256=${sha256.slice(0, -1)}`,
    `sha-256=${sha256}, `,
  ]) {
    it(`refuses "${header.slice(0, 24)}…" (${header.length})`, () => {
      assert.throws(() => demandContentDigest(header, body), { name: 'Problem', code: 'SIGNATURE_REQUIRED' });
    });
  }

  it('counts every byte', () => {
    for (const other of [`${BODY}\n`, ` ${BODY}`, `\ufeff${BODY}`, BODY.slice(1)]) {
      assert.throws(() => demandContentDigest(digestOf(BODY), Buffer.from(other)), Problem);
    }
  });
});
