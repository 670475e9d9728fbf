import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  randomBytes,
} from 'node:crypto';

/** A key for secrets that the database stores encrypted. The first key of the list encrypts; all of them decrypt. */
export interface EncryptionKey {
  readonly id: string;
  readonly key: Buffer;
}

export type Cipher = ReturnType<typeof openCipher>;

/** Parses `id:base64,id:base64`, the current key first. Throws unless they are of 32 bytes, with distinct short ids. */
export function parseEncryptionKeys(text: string): EncryptionKey[] {
  const keys = text.split(',').map((part) => {
    const [id = '', encoded = ''] = part.split(':');
    const key = Buffer.from(encoded, 'base64');
    if (!/^[A-Za-z0-9_-]{1,16}$/.test(id) || key.length !== 32) {
      throw new Error('ENCRYPTION_KEYS: must be id:base64-of-32-bytes, joined by commas');
    }
    return { id, key };
  });
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) throw new Error('ENCRYPTION_KEYS: ids must be distinct');
  return keys;
}

/**
 * Opens what encrypts and decrypts small secrets with AES-256-GCM. `context` is authenticated: a text sealed with one
 * opens with no other. Sealed text: length of the key id, key id, 12 bytes nonce, 16 bytes tag, ciphertext.
 */
export function openCipher(keys: readonly EncryptionKey[]) {
  // A key object is several times as fast as the bytes. Identifiers derive from a separate key, so they reveal nothing
  // of the encryption key.
  const ring = keys.map(({ id, key }) => ({
    id,
    key: createSecretKey(key),
    deriving: createSecretKey(Buffer.from(hkdfSync('sha256', key, '', 'holdfast/derive', 32))),
  }));
  const [current] = ring;
  if (!current) throw new Error('ENCRYPTION_KEYS: at least one key is needed');
  return {
    /** The id of the key that encrypts. */
    keyId: current.id,
    /** The ids of all keys, that one first. */
    keyIds: ring.map(({ id }) => id),
    /** Derives a secret of 32 bytes that can be derived again. Undefined = no key has this id. */
    derive(context: string, keyId = current.id): Buffer | undefined {
      const found = ring.find(({ id }) => id === keyId);
      return found && createHmac('sha256', found.deriving).update(context).digest();
    },
    seal(plain: string, context: string): Buffer {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce).setAAD(Buffer.from(context));
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      const id = Buffer.from(current.id);
      return Buffer.concat([Buffer.from([id.length]), id, nonce, cipher.getAuthTag(), text]);
    },
    open(sealed: Buffer, context: string): string {
      const idEnd = 1 + (sealed[0] ?? 0);
      const key = ring.find(({ id }) => id === sealed.subarray(1, idEnd).toString());
      if (!key) throw new Error('a stored secret was sealed with a key that ENCRYPTION_KEYS does not have');
      const nonce = sealed.subarray(idEnd, idEnd + NONCE_BYTES);
      const tag = sealed.subarray(idEnd + NONCE_BYTES, idEnd + NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key.key, nonce).setAAD(Buffer.from(context)).setAuthTag(tag);
      return (
        decipher.update(sealed.subarray(idEnd + NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      );
    },
  };
}

/** SHA-256 of a random secret: enough to find or compare it, and useless to a reader of the database. */
export function hashOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
