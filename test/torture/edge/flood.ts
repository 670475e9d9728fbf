import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { Answers, newAddress } from './attack.ts';

export const RELAY = '/webhook/processor/payment/captured';
export const JSON_TYPE = { 'content-type': 'application/json' };

/** A request of a flood. */
export interface Shot {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** Who sends, how many at once, and how fast. */
export interface FloodOptions {
  readonly baseUrl: string;
  readonly forMs: number;
  /** Concurrent requests. */
  readonly senders: number;
  /** Pause of each sender between two requests. */
  readonly pauseMs?: number;
}

/** Sends the requests of `next` for a while, and counts the answers. A broken connection counts as `closed`. */
export async function flood(next: (sent: number) => Shot, options: FloodOptions): Promise<Answers> {
  const answers = new Answers();
  const agent = new Agent({ connect: { localAddress: newAddress() }, connections: options.senders });
  const untilMs = performance.now() + options.forMs;
  let sent = 0;
  const send = async () => {
    while (performance.now() < untilMs) {
      const { path, ...shot } = next(sent++);
      try {
        const { statusCode, body } = await request(options.baseUrl + path, {
          ...shot,
          dispatcher: agent,
          signal: AbortSignal.timeout(20_000),
        });
        await body.dump();
        answers.add(statusCode);
      } catch {
        answers.add('closed');
      }
      if (options.pauseMs) await delay(options.pauseMs);
    }
  };
  await Promise.all(Array.from({ length: options.senders }, send));
  await agent.destroy();
  return answers;
}
