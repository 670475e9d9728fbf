/**
 * Signs a capture (HTTP Message Signatures, RFC 9421, with Ed25519) and sends it. Needs nothing but Node 24.
 *
 *   node sign-capture.ts new-key capture-key.pem    writes a private key, prints the public key for your contract
 *   node sign-capture.ts send < capture.json        sends the bytes of capture.json as they are, prints the answer
 *
 * `send` reads HOLDFAST_URL, HOLDFAST_API_KEY, HOLDFAST_MERCHANT_ID, CAPTURE_KEY_FILE (the PEM of new-key) and, if you
 * set it, IDEMPOTENCY_KEY. Described in docs/signed-captures.md.
 */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';

const PATH = '/preauthorization/authorization';

/** What goes into a signature besides the time and a nonce, which are new each time. */
export interface Capture {
  readonly merchantId: string;
  /** The bytes that will be sent; sign what you send, do not print the JSON twice. */
  readonly body: Uint8Array;
  readonly idempotencyKey?: string | undefined;
}

/** The headers of one attempt. Call it again for a retry: a signature is good once. */
export function signCapture(
  privateKey: KeyObject,
  { merchantId, body, idempotencyKey }: Capture,
): Record<string, string> {
  const components: Record<string, string> = {
    '@method': 'POST',
    '@path': PATH,
    'content-digest': `sha-256=:${createHash('sha256').update(body).digest('base64')}:`,
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
  const names = Object.keys(components).map((name) => `"${name}"`);
  const created = Math.floor(Date.now() / 1000);
  const nonce = randomUUID();
  const parameters = `(${names.join(' ')});created=${created};nonce="${nonce}";keyid="${merchantId}";alg="ed25519"`;
  const lines = Object.entries(components).map(([name, value]) => `"${name}": ${value}`);
  const base = [...lines, `"@signature-params": ${parameters}`].join('\n');
  return {
    'Content-Type': 'application/json',
    'Content-Digest': components['content-digest'] as string,
    'Signature-Input': `capture=${parameters}`,
    Signature: `capture=:${sign(null, Buffer.from(base), privateKey).toString('base64')}:`,
    ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
  };
}

/** Writes a new private key, for its owner only, and answers the public key (SubjectPublicKeyInfo in PEM). */
function newKey(file: string): string {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
  return publicKey.export({ type: 'spki', format: 'pem' }) as string;
}

async function send(): Promise<Response> {
  const body = await buffer(process.stdin);
  const privateKey = createPrivateKey(readFileSync(setting('CAPTURE_KEY_FILE')));
  const merchantId = setting('HOLDFAST_MERCHANT_ID');
  const headers = signCapture(privateKey, {
    merchantId,
    body,
    idempotencyKey: process.env.IDEMPOTENCY_KEY || undefined,
  });
  const authorization = `Bearer ${setting('HOLDFAST_API_KEY')}`;
  return fetch(setting('HOLDFAST_URL') + PATH, { method: 'POST', headers: { ...headers, authorization }, body });
}

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

if (import.meta.main) {
  const [command, file] = process.argv.slice(2);
  if (command === 'new-key' && file !== undefined) process.stdout.write(newKey(file));
  else if (command === 'send') {
    const response = await send();
    process.stdout.write(`${response.status} ${await response.text()}\n`);
    if (!response.ok) process.exitCode = 1;
  } else throw new Error('usage: sign-capture.ts new-key FILE | send < capture.json');
}
