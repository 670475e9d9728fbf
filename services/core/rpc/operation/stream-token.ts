import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Cipher } from '../../storage/cipher.ts';
import type { LogPosition } from '../../storage/ordered-log.ts';

/** Whose token it is: a merchant's, undefined = it is of a stream of all merchants. */
type Scope = string | undefined;

/** The tokens of one log: those of another are not read as such. */
export interface TokenForm {
  /** How plain tokens begin, and encrypted ones. */
  readonly plain: string;
  readonly sealed: string;
  /** The name of the keys that encrypt them. */
  readonly key: string;
}

export const OPERATION_TOKENS: TokenForm = { plain: 'o2', sealed: 'o3', key: 'stream-token' };
export const RELAYED_TOKENS: TokenForm = { plain: 'r2', sealed: 'r3', key: 'relayed-token' };

/**
 * A token names the row at its position: a restored database has another one there, and rejects it. The log is that
 * of all merchants, so a merchant's token is encrypted; otherwise it would say how many rows all of them make.
 */
export function tokenOf(position: LogPosition, scope: Scope, cipher: Cipher, form = OPERATION_TOKENS): string {
  const { sequence, mark } = position;
  if (scope === undefined) return Buffer.from(`${form.plain}:${sequence}:${mark}`).toString('base64url');
  return sealed(form, position, keyOf(form, cipher, scope, cipher.keyId));
}

/** The position of a token; undefined when it is malformed, another merchant's, or of another log. Merchants have plain ones of 1.0. */
export function readToken(
  token: string,
  scope: Scope,
  cipher: Cipher,
  form = OPERATION_TOKENS,
): LogPosition | undefined {
  const bytes = Buffer.from(token, 'base64url');
  const [, begin, digits, mark] = /^(\w\d):(\d{1,18}):([0-9a-f]{12}|)$/.exec(bytes.toString('latin1')) ?? [];
  if (begin === form.plain && digits !== undefined && mark !== undefined) return { sequence: BigInt(digits), mark };
  const version = Buffer.from(form.sealed);
  if (scope === undefined || bytes.length !== version.length + TAG_BYTES + PLAIN_BYTES) return undefined;
  if (!bytes.subarray(0, version.length).equals(version)) return undefined;
  for (const keyId of cipher.keyIds) {
    const position = opened(bytes.subarray(version.length), keyOf(form, cipher, scope, keyId));
    if (position) return position;
  }
  return undefined;
}

const TAG_BYTES = 16;
/** The sequence, whether there is a mark, and the mark. */
const PLAIN_BYTES = 8 + 1 + 6;

function keyOf({ key }: TokenForm, cipher: Cipher, merchantId: string, keyId: string): Buffer {
  return cipher.derive(`${key}:${merchantId}`, keyId) as Buffer;
}

/**
 * Encrypts as SIV does (RFC 5297): the tag is an HMAC of the text, and the key stream an HMAC of the tag. A position has
 * one token, so that streams can share it.
 */
function sealed(form: TokenForm, { sequence, mark }: LogPosition, key: Buffer): string {
  const plain = Buffer.alloc(PLAIN_BYTES);
  plain.writeBigUInt64BE(sequence);
  plain.writeUInt8(mark === '' ? 0 : 1, 8);
  plain.write(mark, 9, 'hex');
  const tag = tagOf(plain, key);
  return Buffer.concat([Buffer.from(form.sealed), tag, masked(plain, tag, key)]).toString('base64url');
}

function opened(bytes: Buffer, key: Buffer): LogPosition | undefined {
  const tag = bytes.subarray(0, TAG_BYTES);
  const plain = masked(bytes.subarray(TAG_BYTES), tag, key);
  if (!timingSafeEqual(tagOf(plain, key), tag)) return undefined;
  const mark = plain.readUInt8(8) === 0 ? '' : plain.toString('hex', 9);
  return { sequence: plain.readBigUInt64BE(), mark };
}

function tagOf(plain: Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update('tag').update(plain).digest().subarray(0, TAG_BYTES);
}

function masked(text: Buffer, tag: Buffer, key: Buffer): Buffer {
  const stream = createHmac('sha256', key).update('stream').update(tag).digest();
  return Buffer.from(text.map((byte, index) => byte ^ (stream[index] as number)));
}
