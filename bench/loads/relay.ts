import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import { signNotification } from '../../webhooks/signature.ts';
import type { Load, LoadOrder } from '../load.ts';

/** Sends signed notifications to the relay, each another requestId. */
export function open({ baseUrl, merchantId = '', secret = '' }: LoadOrder['options']): Load {
  const dispatcher = new Agent({ connections: 64, pipelining: 1 });
  return {
    async act() {
      const fields = { merchantId, requestId: randomUUID(), status: 'OK', amount: '10000', currency: 'EUR' };
      const headers = { 'content-type': 'application/json', 'x-service-signature': signNotification(secret, fields) };
      const body = JSON.stringify({ ...fields, amount: 10_000, reference: 'bench' });
      const url = `${baseUrl}/webhook/processor/payment/captured`;
      const answer = await request(url, { method: 'POST', headers, body, dispatcher });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${text.slice(0, 200)}`);
    },
    close: () => void dispatcher.destroy(),
  };
}
