import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { canonicalCaptureKey } from '../../../../../services/core/rpc/merchant/capture-key.ts';

const pemOf = (raw: string) => {
  const der = Buffer.from(`302a300506032b6570032100${raw}`, 'hex');
  return `-----BEGIN PUBLIC KEY-----\n${der.toString('base64')}\n-----END PUBLIC KEY-----\n`;
};
const spki = { type: 'spki', format: 'pem' } as const;
const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;

describe('canonicalCaptureKey()', () => {
  const pair = generateKeyPairSync('ed25519');
  const canonical = pair.publicKey.export(spki) as string;

  it('returns the canonical form of a public key, however its text was wrapped', () => {
    const [head = '', body = '', tail = ''] = canonical.trim().split('\n');
    const wrapped = `\r\n ${head}\r\n${body.slice(0, 20)}\r\n${body.slice(20)}\r\n${tail}`;
    for (const pem of [canonical, canonical.trim(), wrapped]) assert.equal(canonicalCaptureKey(pem), canonical);
    for (let count = 0; count < 50; count++) {
      const key = generateKeyPairSync('ed25519').publicKey.export(spki) as string;
      assert.equal(canonicalCaptureKey(key), key);
    }
  });

  it('rejects private keys, other keys, and text around a key', () => {
    const others = [
      '',
      'no key',
      pair.privateKey.export(pkcs8) as string,
      canonical + (pair.privateKey.export(pkcs8) as string),
      canonical + canonical,
      `note\n${canonical}`,
      canonical.replaceAll('PUBLIC KEY', 'PRIVATE KEY'),
      canonical.replaceAll('PUBLIC KEY', 'CERTIFICATE'),
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export(spki) as string,
      generateKeyPairSync('x25519').publicKey.export(spki) as string,
      generateKeyPairSync('ed448').publicKey.export(spki) as string,
      pemOf('00'.repeat(33)),
    ];
    for (const pem of others) assert.equal(canonicalCaptureKey(pem), undefined, pem.slice(0, 60));
  });

  /** The points of small order with every possible encoding in 32 bytes. */
  const small = {
    identity: `01${'00'.repeat(31)}`,
    'order 2': `ec${'ff'.repeat(30)}7f`,
    'order 4': '00'.repeat(32),
    'order 8': '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'order 8, the negative': 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'order 4, not canonical': `ed${'ff'.repeat(30)}7f`,
    'identity, not canonical': `ee${'ff'.repeat(30)}7f`,
  };
  for (const [name, raw] of Object.entries(small)) {
    it(`rejects the point of small order: ${name}, with either sign`, () => {
      const signed = Buffer.from(raw, 'hex');
      signed[31] = (signed[31] ?? 0) | 0x80;
      for (const hex of [raw, signed.toString('hex')]) assert.equal(canonicalCaptureKey(pemOf(hex)), undefined);
    });
  }

  it('rejects what is not a point, and a y outside the field', () => {
    assert.equal(canonicalCaptureKey(pemOf(`02${'00'.repeat(31)}`)), undefined);
    assert.equal(canonicalCaptureKey(pemOf(`f2${'ff'.repeat(30)}7f`)), undefined);
  });
});
