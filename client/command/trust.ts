/** A fetch that trusts certificates of one's own besides the known ones, for --ca. Node's own takes them from its environment alone. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import { UsageError } from './usage-error.ts';

/**
 * Reads certificates in PEM, and returns them with those that Node knows. Throws UsageError for a file that cannot be
 * read or has none.
 */
export async function readTrusted(file: string): Promise<string[]> {
  const pem = await readFile(file, 'utf8').catch(({ code }: { code?: string }) => {
    throw new UsageError(`--ca ${file} cannot be read: ${code}`);
  });
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new UsageError(`--ca ${file} has no certificate in PEM`);
  return [...rootCertificates, pem];
}

/** Throws UsageError as `readTrusted` does. */
export async function fetchTrusting(file: string): Promise<typeof globalThis.fetch> {
  const ca = await readTrusted(file);
  return async (input, init = {}) => {
    const url = new URL(String(input));
    const { method = 'GET', body, signal } = init;
    const options = { method, headers: Object.fromEntries(new Headers(init.headers)), signal: signal ?? undefined };
    const sent = url.protocol === 'https:' ? requestTls(url, { ...options, ca }) : requestPlain(url, options);
    sent.end(typeof body === 'string' ? body : undefined);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return responseOf(url, answer);
  };
}

function responseOf(url: URL, answer: IncomingMessage): Response {
  const { statusCode: status = 0, headers: given } = answer;
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) headers.set(name, String(value));
  const hasBody = status >= 200 && status !== 204 && status !== 205 && status !== 304;
  if (!hasBody) answer.resume();
  const body = hasBody ? (Readable.toWeb(answer) as ReadableStream<Uint8Array>) : null;
  return Object.defineProperty(new Response(body, { status, headers }), 'url', { value: url.href });
}
