/** A client of the public interfaces, as a merchant uses them. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { QuickstartFile } from './quickstart.ts';

/** An answer; the body is parsed JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the service says is checked by who reads it.
  readonly body: any;
}

/** A notification as the demo merchant shows it. */
interface ReceivedNotification {
  readonly kind: string;
  readonly statusInfo: string;
  readonly verified: boolean;
  readonly duplicateCount: number;
  readonly headers: Record<string, string>;
  readonly bodyText: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the service says is checked by who reads it.
  readonly body: any;
}

export type Shop = ReturnType<typeof openShop>;

/** Opens a client that calls as a merchant. */
export function openShop({
  baseUrl,
  demoMerchantUrl,
  apiKey,
}: Pick<QuickstartFile, 'baseUrl' | 'demoMerchantUrl' | 'apiKey'>) {
  const authorization = `Bearer ${apiKey}`;
  /** The notifications of one operation received so far. */
  const received = async (requestId: string) => {
    const response = await fetch(`${demoMerchantUrl}/received?requestId=${encodeURIComponent(requestId)}`);
    return (await response.json()) as ReceivedNotification[];
  };
  return {
    received,
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      call(`${baseUrl}${path}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (path: string) => call(`${baseUrl}${path}`, { headers: { authorization } }),
    /** Waits for the notification of one operation; with a statusInfo, for that one. Throws after 15 s. */
    async notified(requestId: string, statusInfo?: string): Promise<ReceivedNotification> {
      for (let waitedMs = 0; waitedMs < 15_000; waitedMs += 25) {
        const found = (await received(requestId)).find((item) => (statusInfo ?? item.statusInfo) === item.statusInfo);
        if (found !== undefined) return found;
        await delay(25);
      }
      throw new Error(
        `no notification${statusInfo === undefined ? '' : ` "${statusInfo}"`} about ${requestId} within 15 s`,
      );
    },
  };
}

async function call(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(20_000) });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** Returns the answer when it has the expected status, and these fields; otherwise throws a line that names both. */
export function expect(status: number, answer: Answer, fields?: object): Answer {
  const { code = '', detail = '' } = answer.body ?? {};
  assert.equal(answer.status, status, `answered ${answer.status} ${code} ${detail} where ${status} was due`);
  if (fields) assert.partialDeepStrictEqual(answer.body, fields);
  return answer;
}
