import { Agent, request } from 'undici';
import type { Load, LoadOrder } from '../load.ts';

/** Places holds by token over REST. */
export function open({ baseUrl, apiKey }: LoadOrder['options']): Load {
  const dispatcher = new Agent({ connections: 64, pipelining: 1 });
  const body = JSON.stringify({
    tokenId: 'tok_sandbox_ok',
    amount: 10_000,
    currency: 'EUR',
    terminalId: 't1',
    userId: 'u1',
  });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  return {
    async act() {
      const answer = await request(`${baseUrl}/preauthorization`, { method: 'POST', headers, body, dispatcher });
      const text = await answer.body.text();
      if (answer.statusCode !== 201) throw new Error(`${answer.statusCode}: ${text.slice(0, 200)}`);
    },
    close: () => void dispatcher.destroy(),
  };
}
