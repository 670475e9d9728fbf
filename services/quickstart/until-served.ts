/** Waits until the service serves. */
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits until the gateway knows an API key and core answers behind it: looking up a hold that does not exist then
 * returns 404. Throws after 30 s, and when the signal aborts.
 */
export async function untilKnown(baseUrl: string, apiKey: string, signal?: AbortSignal): Promise<void> {
  const deadlineMs = performance.now() + 30_000;
  for (;;) {
    const answer = await ask(`${baseUrl}/preauthorization/${NOBODYS}`, apiKey, signal);
    if (answer === 404) return;
    signal?.throwIfAborted();
    if (performance.now() > deadlineMs) throw new Error(`the gateway does not serve a merchant: it answers ${answer}`);
    await delay(20, undefined, { signal });
  }
}

/** The HTTP status, or the reason why there is none. */
async function ask(url: string, apiKey: string, signal: AbortSignal | undefined): Promise<number | string> {
  try {
    const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` }, signal: signal ?? null });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A UUIDv7 of the year 1970. */
const NOBODYS = '00000000-0000-7000-8000-000000000000';
