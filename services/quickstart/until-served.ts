/** Whether the service serves. */
import { setTimeout as delay } from 'node:timers/promises';
import type { QuickstartFile } from './quickstart.ts';

/**
 * Waits until the gateway knows both merchants' keys and core answers behind it: asking for a hold that nobody placed is then
 * 404. Throws after 30 s.
 */
export async function untilServed(file: QuickstartFile, signal: AbortSignal): Promise<void> {
  let answer: number | string = 'nothing';
  for (const { apiKey } of [file, file.singleCapture]) {
    const headers = { authorization: `Bearer ${apiKey}` };
    for (let waitedMs = 0; answer !== 404; waitedMs += 20) {
      signal.throwIfAborted();
      answer = await fetch(`${file.baseUrl}/preauthorization/${NOBODYS}`, { headers, signal }).then(
        async (response) => response.arrayBuffer().then(() => response.status),
        (error: Error) => error.message,
      );
      if (waitedMs > 30_000) throw new Error(`the gateway does not serve the demo merchants: it answers ${answer}`);
      if (answer !== 404) await delay(20, undefined, { signal });
    }
    answer = 'nothing';
  }
}

/** A UUIDv7 of the year 1970. */
const NOBODYS = '00000000-0000-7000-8000-000000000000';
