import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { openCipher, parseEncryptionKeys } from '../../../../services/core/storage/cipher.ts';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

describe('openCipher()', () => {
  const [old, fresh] = [key('old'), key('fresh')];

  it('decrypts what it encrypted, never encrypts the same way twice, and hides the text', () => {
    const cipher = openCipher(parseEncryptionKeys(old));
    const [one, other] = [cipher.seal('secret', 'here'), cipher.seal('secret', 'here')];
    assert.notDeepEqual(one, other);
    assert(!one.includes('secret'));
    assert.equal(cipher.open(one, 'here'), 'secret');
  });

  it('decrypts with older keys, and encrypts with the first', () => {
    const sealed = openCipher(parseEncryptionKeys(old)).seal('secret', 'here');
    const rotated = openCipher(parseEncryptionKeys(`${fresh},${old}`));
    assert.equal(rotated.open(sealed, 'here'), 'secret');
    const resealed = rotated.seal('secret', 'here');
    assert.throws(() => openCipher(parseEncryptionKeys(old)).open(resealed, 'here'), /ENCRYPTION_KEYS/);
  });

  it('decrypts nothing under another context, and nothing that was changed', () => {
    const cipher = openCipher(parseEncryptionKeys(old));
    const sealed = cipher.seal('secret', 'here');
    assert.throws(() => cipher.open(sealed, 'there'));
    for (let index = 0; index < sealed.length; index++) {
      const touched = Buffer.from(sealed);
      touched[index] = (touched[index] ?? 0) ^ 1;
      assert.throws(() => cipher.open(touched, 'here'));
    }
    assert.throws(() => cipher.open(Buffer.alloc(0), 'here'));
  });
});

describe('parseEncryptionKeys()', () => {
  it('accepts ids with 32 bytes, and rejects anything else without showing it', () => {
    assert.deepEqual(
      parseEncryptionKeys(`${key('a')},${key('b')}`).map(({ id }) => id),
      ['a', 'b'],
    );
    const short = randomBytes(31).toString('base64');
    for (const wrong of ['', 'a', `a:${short}`, `:${randomBytes(32).toString('base64')}`, `${key('a')},${key('a')}`]) {
      assert.throws(
        () => parseEncryptionKeys(wrong),
        (error: Error) => !error.message.includes(short) && /^ENCRYPTION_KEYS/.test(error.message),
      );
    }
  });
});
