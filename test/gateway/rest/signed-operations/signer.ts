/** A merchant that signs as RFC 9421 requires, or wrongly as a test requests. */
import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';

export const PATH = '/preauthorization/authorization';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
export const CAPTURE_KEY = publicKey.export({ type: 'spki', format: 'pem' }) as string;

/** Deviations that a test may set. */
export interface Signing {
  readonly body?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Names and values of the signed components, in order. */
  readonly components?: Record<string, string>;
  /** Parameters as written; `undefined` omits one. */
  readonly parameters?: Record<string, string | undefined>;
  readonly label?: string;
  readonly key?: KeyObject;
  readonly nowSeconds?: number;
}

/** Returns the headers of a signed capture. */
export function signedHeaders(signing: Signing = {}) {
  const { body = '', idempotencyKey, label = 'sig1', key = privateKey } = signing;
  const contentDigest = digestOf(body);
  const components = signing.components ?? rightComponents(body, idempotencyKey);
  const parameters = {
    created: String(signing.nowSeconds ?? Math.floor(Date.now() / 1000)),
    nonce: `"${randomUUID()}"`,
    keyid: '"acme"',
    alg: '"ed25519"',
    ...signing.parameters,
  };
  const written = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : `;${name}=${value}`,
  );
  const names = Object.keys(components).map((name) => (name.startsWith('"') ? name : `"${name}"`));
  const input = `(${names.join(' ')})${written.join('')}`;
  const lines = Object.values(components).map((value, index) => `${names[index]}: ${value}`);
  const base = [...lines, `"@signature-params": ${input}`].join('\n');
  return {
    'content-digest': contentDigest,
    'signature-input': `${label}=${input}`,
    signature: `${label}=:${sign(null, Buffer.from(base), key).toString('base64')}:`,
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
}

/** Returns the required components with their values. */
export function rightComponents(body: string, idempotencyKey?: string): Record<string, string> {
  return {
    '@method': 'POST',
    '@path': PATH,
    'content-digest': digestOf(body),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
}

/** Returns the Content-Digest of a body. */
export function digestOf(body: string): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
}
