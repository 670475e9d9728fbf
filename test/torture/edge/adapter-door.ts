/** Slow anonymous connections at an adapter's webhook server, while its processor delivers events. */
import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { Answers, type Attack, newAddress, openSocket, type Target } from './attack.ts';
import { JSON_TYPE } from './flood.ts';

const SLOW = 110;
/** Two of each address, as from a small network of somebody's machines. */
const OF_ONE_ADDRESS = 2;
const EVENTS = 118;
const LARGEST_BYTES = 1024 * 1024;

function doorAttack(what: string, bytes: number): Attack {
  return {
    name: `${SLOW} slow connections at an adapter's webhooks that have sent ${what}`,
    expects: `each of ${EVENTS} genuine events 200`,
    short: true,
    run: (target) => knock(target, bytes),
  };
}

async function knock({ file, stripeSecret }: Target, bytes: number) {
  const url = new URL(file.stripe?.webhookUrl ?? '');
  const head = `POST ${url.pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: ${LARGEST_BYTES}\r\n\r\n`;
  const slow = [];
  let address = newAddress();
  for (let index = 0; index < SLOW; index++) {
    if (index % OF_ONE_ADDRESS === 0) address = newAddress();
    const socket = await openSocket(url.href, address);
    socket.resume().write(head + 'x'.repeat(bytes));
    slow.push(socket);
  }
  await delay(100);
  const agent = new Agent({ connect: { localAddress: newAddress() }, connections: 20 });
  const answers = new Answers();
  const deliver = async (index: number) => {
    const payload = JSON.stringify({
      id: `evt_${index}`,
      object: 'event',
      type: 'customer.created',
      api_version: '2025-03-31',
      created: Math.floor(Date.now() / 1_000),
      data: { object: { id: `cus_${index}`, object: 'customer' } },
    });
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { ...JSON_TYPE, 'stripe-signature': signatureOf(payload, stripeSecret) },
      body: payload,
      dispatcher: agent,
    });
    await body.dump();
    answers.add(statusCode);
  };
  try {
    await Promise.all(Array.from({ length: EVENTS }, (_, index) => deliver(index)));
    return { answers, faults: answers.notAmong([200]) };
  } finally {
    for (const socket of slow) socket.destroy();
    await agent.destroy();
  }
}

/** Stripe's scheme: HMAC-SHA-256 of time and body. */
function signatureOf(payload: string, secret: string): string {
  const time = Math.floor(Date.now() / 1_000);
  const signature = createHmac('sha256', secret).update(`${time}.${payload}`).digest('hex');
  return `t=${time},v1=${signature}`;
}

export const ADAPTER_DOOR: readonly Attack[] = [
  doorAttack('a byte of their body', 1),
  doorAttack('nearly all of the largest body', LARGEST_BYTES - 1),
];
