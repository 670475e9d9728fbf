/** Many streams of one API key, while its merchant's operations are told on each of them. */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { Answers, type Attack, newAddress, type Target } from './attack.ts';
import { JSON_TYPE } from './flood.ts';

/** As many as a key may have open (docs/limits.md, "Figures"). */
const STREAMS = 100;
const OPERATIONS = 100;
const EVERY_MS = 50;
/** The last event must have arrived on every stream by then. */
const WITHIN_MS = 15_000;
const P99_LONGER_MS = 100;
const OCT = { tokenId: 'tok_sandbox_ok', amount: 1000, currency: 'EUR', terminalId: 'till-1', userId: 'ann' };

function streamer(path: string): Attack {
  return {
    name: `${STREAMS} streams of one key, GET ${path}`,
    expects: `${OPERATIONS} operations on each within ${WITHIN_MS / 1_000} s`,
    p99LongerMs: P99_LONGER_MS,
    ...(path.startsWith('/notifications') && { short: true }),
    run: (target) => follow(target, path),
  };
}

async function follow({ file, createMerchant }: Target, path: string) {
  const { apiKey } = await createMerchant('http://127.0.0.1:9/');
  const headers = { authorization: `Bearer ${apiKey}` };
  const agent = new Agent({ connect: { localAddress: newAddress() }, bodyTimeout: 0 });
  const answers = new Answers();
  const seen: number[] = [];
  const open = async (index: number) => {
    const { statusCode, body } = await request(file.baseUrl + path, { headers, dispatcher: agent });
    answers.add(statusCode);
    seen[index] = 0;
    // Read until the agent is destroyed.
    void (async () => {
      for await (const chunk of body) seen[index] = (seen[index] ?? 0) + count(chunk as Buffer);
    })().catch(() => undefined);
  };
  try {
    await Promise.all(Array.from({ length: STREAMS }, (_, index) => open(index)));
    for (let sent = 0; sent < OPERATIONS; sent++) {
      const options = { method: 'POST', headers: { ...headers, ...JSON_TYPE }, dispatcher: agent } as const;
      const { statusCode, body } = await request(`${file.baseUrl}/oct`, { ...options, body: JSON.stringify(OCT) });
      await body.dump();
      answers.add(statusCode);
      await delay(EVERY_MS);
    }
    const late = () => seen.filter((events) => events < OPERATIONS).length;
    for (const fromMs = performance.now(); late() > 0 && performance.now() - fromMs < WITHIN_MS; ) await delay(50);
    const faults = late() > 0 ? [`${late()} streams lacked operations`] : [];
    return { answers, faults: [...faults, ...answers.notAmong([200, 201])] };
  } finally {
    await agent.destroy();
  }
}

/** Events have an `id` line each, which no chunk divides, as each is written whole. */
function count(chunk: Buffer): number {
  return chunk.toString('latin1').split('\ndata:').length - 1 || (chunk.includes('data:') ? 1 : 0);
}

export const STREAMERS: readonly Attack[] = ['/notifications/stream', '/operations/stream'].map(streamer);
