import { createPublicKey } from 'node:crypto';

/**
 * The canonical PEM (SubjectPublicKeyInfo, RFC 8410) of an Ed25519 public key. Undefined for anything else: another
 * kind of key; a private key, from which Node would derive the public one; text around the key; an invalid point or
 * encoding; a point of small order, with which some verifiers accept forged signatures.
 */
export function canonicalCaptureKey(pem: string): string | undefined {
  const base64 = /^\s*-----BEGIN PUBLIC KEY-----\s+([A-Za-z0-9+/=\s]+?)\s*-----END PUBLIC KEY-----\s*$/.exec(pem)?.[1];
  const der = Buffer.from(base64 ?? '', 'base64');
  if (der.length !== SPKI_PREFIX.length + 32 || !der.subarray(0, SPKI_PREFIX.length).equals(SPKI_PREFIX))
    return undefined;
  if (!isSafePoint(der.subarray(SPKI_PREFIX.length))) return undefined;
  return createPublicKey({ key: der, format: 'der', type: 'spki' }).export({ format: 'pem', type: 'spki' }) as string;
}

/** SEQUENCE { SEQUENCE { id-Ed25519 }, BIT STRING of 32 bytes }. */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Decodes y as RFC 8032, section 5.1.3, does, down to whether there is an x for it. */
function isSafePoint(encoded: Buffer): boolean {
  const y = BigInt(`0x${Buffer.from(encoded).reverse().toString('hex')}`) & ((1n << 255n) - 1n);
  if (y >= P || SMALL_ORDER.includes(y)) return false;
  const square = (y * y) % P;
  // x² = (y² - 1) / (d·y² + 1); a quotient is a square exactly when the product is one (Euler's criterion).
  return power((square - 1n + P) * ((D * square + 1n) % P), (P - 1n) / 2n) === 1n;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let factor = base % P;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * factor) % P;
    factor = (factor * factor) % P;
  }
  return result;
}

const P = 2n ** 255n - 19n;
/** -121665 / 121666. */
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
/** A y-coordinate of the points of order 8; the other one is its negative. */
const ORDER_8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
/** The y-coordinates of the points of order 1, 2, 4 and 8. */
const SMALL_ORDER = [1n, P - 1n, 0n, ORDER_8, P - ORDER_8];
