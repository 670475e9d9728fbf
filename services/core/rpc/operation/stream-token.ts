import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Cipher } from '../../storage/cipher.ts';
import type { LogPosition } from '../../storage/operation/operation-row.ts';

/** The content of a token: the position in the log, and the random part of the requestId of the result there. */
export interface TokenPosition {
  readonly sequence: bigint;
  readonly mark: string;
}

/** Whose token it is: a merchant's, undefined = it is of a stream of all merchants. */
type Scope = string | undefined;

/**
 * A token names the result at its position: a restored database has another one there, and rejects it. The log is that
 * of all merchants, so a merchant's token is encrypted; otherwise it would say how many operations all of them make.
 */
export function tokenOf({ sequence, requestId }: LogPosition, scope: Scope, cipher: Cipher): string {
  const mark = markOf(requestId);
  if (scope === undefined) return Buffer.from(`o2:${sequence}:${mark}`).toString('base64url');
  return sealed({ sequence, mark }, keyOf(cipher, scope, cipher.keyId));
}

/** The random part of a requestId, which a token carries. */
export function markOf(requestId: string): string {
  return requestId.slice(-12);
}

/** The position of a token; undefined when it is malformed or another merchant's. Merchants have plain ones of 1.0. */
export function readToken(token: string, scope: Scope, cipher: Cipher): TokenPosition | undefined {
  const bytes = Buffer.from(token, 'base64url');
  const [, digits, mark] = /^o2:(\d{1,18}):([0-9a-f]{12}|)$/.exec(bytes.toString('latin1')) ?? [];
  if (digits !== undefined && mark !== undefined) return { sequence: BigInt(digits), mark };
  if (scope === undefined || bytes.length !== VERSION.length + TAG_BYTES + PLAIN_BYTES) return undefined;
  if (!bytes.subarray(0, VERSION.length).equals(VERSION)) return undefined;
  for (const keyId of cipher.keyIds) {
    const position = opened(bytes.subarray(VERSION.length), keyOf(cipher, scope, keyId));
    if (position) return position;
  }
  return undefined;
}

const VERSION = Buffer.from('o3');
const TAG_BYTES = 16;
/** The sequence, whether there is a mark, and the mark. */
const PLAIN_BYTES = 8 + 1 + 6;

function keyOf(cipher: Cipher, merchantId: string, keyId: string): Buffer {
  return cipher.derive(`stream-token:${merchantId}`, keyId) as Buffer;
}

/**
 * Encrypts as SIV does (RFC 5297): the tag is an HMAC of the text, and the key stream an HMAC of the tag. A position has
 * one token, so that streams can share it.
 */
function sealed({ sequence, mark }: TokenPosition, key: Buffer): string {
  const plain = Buffer.alloc(PLAIN_BYTES);
  plain.writeBigUInt64BE(sequence);
  plain.writeUInt8(mark === '' ? 0 : 1, 8);
  plain.write(mark, 9, 'hex');
  const tag = tagOf(plain, key);
  return Buffer.concat([VERSION, tag, masked(plain, tag, key)]).toString('base64url');
}

function opened(bytes: Buffer, key: Buffer): TokenPosition | undefined {
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
