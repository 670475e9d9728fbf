/** Sends a merchant's notifications to a receiver that Holdfast itself cannot reach, such as one on a laptop. */
import type { SignedNotification } from '../api.ts';
import { textOf, withDeadline } from '../deadline.ts';
import type { Holdfast } from '../holdfast.ts';
import type { WatchOptions } from '../watch.ts';
import { readAddress } from './address.ts';

/** The result of forwarding a notification. */
export interface Forwarded {
  /** The token to go on after it. */
  readonly id: string;
  readonly requestId: string;
  readonly statusInfo: string;
  /** The receiver's answer; absent = there was none. */
  readonly status?: number;
  readonly error?: string;
  readonly tookMs: number;
  /** The token to get it again. */
  readonly previousId?: string | undefined;
  /** What was sent, and how the receiver's answer begins. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly answer?: string;
}

/**
 * Forwards each notification once, in their order, byte for byte as a delivery sends it. Ends when the signal aborts.
 */
export async function* listen(
  { notifications }: Holdfast,
  forwardTo: string,
  options: WatchOptions,
): AsyncGenerator<Forwarded, void> {
  const address = readAddress('--forward-to', forwardTo);
  for await (const { id, data, previousId } of notifications.watch(options)) {
    const startedMs = performance.now();
    const answer = await post(`${address}${data.path}`, data, options.signal);
    // Notifications in progress at the end arrive again after the previous one.
    if (options.signal?.aborted) return;
    const tookMs = Math.round(performance.now() - startedMs);
    const { requestId } = JSON.parse(data.body) as { requestId: string };
    yield { id, previousId, requestId, statusInfo: data.path.split('/').at(-1) ?? '', ...answer, tookMs, ...data };
  }
}

/** Like a delivery: 10 s, and redirects are not followed. */
const ATTEMPT_MS = 10_000;

async function post(
  url: string,
  { headers, body }: SignedNotification,
  ended?: AbortSignal,
): Promise<Pick<Forwarded, 'status' | 'error' | 'answer'>> {
  const request = { method: 'POST', headers, body, redirect: 'manual' } as const;
  try {
    return await withDeadline(ATTEMPT_MS, ended, async (signal) => {
      const response = await fetch(url, { ...request, signal });
      return { status: response.status, answer: (await textOf(response)).slice(0, 1_000) };
    });
  } catch (error) {
    const { code, message, cause } = error as Error & { code?: string; cause?: { code?: string } };
    return { error: cause?.code ?? code ?? message };
  }
}
