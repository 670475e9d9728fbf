/** Sends a merchant's notifications to a receiver that Holdfast itself cannot reach, such as one on a laptop. */
import type { SignedNotification } from '../api.ts';
import type { Holdfast } from '../holdfast.ts';
import type { WatchOptions } from '../watch.ts';
import { UsageError } from './run.ts';

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
}

/**
 * Forwards each notification once, in their order, byte for byte as a delivery sends it. Ends when the signal aborts.
 */
export async function* listen(
  { notifications }: Holdfast,
  forwardTo: string,
  options: WatchOptions,
): AsyncGenerator<Forwarded, void> {
  const address = addressOf(forwardTo);
  for await (const { id, data } of notifications.watch(options)) {
    const startedMs = performance.now();
    const answer = await post(`${address}${data.path}`, data, options.signal);
    // Notifications in progress at the end arrive again after the previous one.
    if (options.signal?.aborted) return;
    const tookMs = Math.round(performance.now() - startedMs);
    const { requestId } = JSON.parse(data.body) as { requestId: string };
    yield { id, requestId, statusInfo: data.path.split('/').at(-1) ?? '', ...answer, tookMs };
  }
}

/** As for a webhookUrl: no user name, no query, and a delivery's path is appended. */
function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === '')
    return url.href.replace(/\/+$/, '');
  throw new UsageError(`--forward-to ${text} is no address: write it as http://localhost:3000/webhooks`);
}

/** Like a delivery: 10 s, and redirects are not followed. */
const ATTEMPT_MS = 10_000;

async function post(
  url: string,
  { headers, body }: SignedNotification,
  ended?: AbortSignal,
): Promise<Pick<Forwarded, 'status' | 'error'>> {
  const signal = AbortSignal.any([AbortSignal.timeout(ATTEMPT_MS), ...(ended ? [ended] : [])]);
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.arrayBuffer();
    return { status: response.status };
  } catch (error) {
    const { name, message, cause } = error as Error & { cause?: { code?: string } };
    return { error: name === 'TimeoutError' ? `no answer within ${ATTEMPT_MS / 1_000} s` : (cause?.code ?? message) };
  }
}
