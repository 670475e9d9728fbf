/** Automatic captures of one merchant that fall due in one second, beside a few holds of another merchant. */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { Answers, type Attack, newAddress, type Target } from './attack.ts';
import { JSON_TYPE } from './flood.ts';

const NEIGHBOURS_HOLDS = 10;
const SENDERS = 30;
/** All holds must be placed before the first capture falls due: slower than a busy machine places them. */
const PLACED_PER_SECOND = 60;
const AT_LEAST_MS = 10_000;
/** From the neighbour's captureAt to its releaseAt, when what is not captured would expire. */
const RELEASED_AFTER_MS = 8_000;
const LATE_MS = 5_000;

interface Hold {
  readonly requestId?: string;
  readonly phase: string;
  readonly amountCaptured: number;
}

function storm(holds: number, tokenId: string, what = ''): Attack {
  return {
    name: `${holds} automatic captures of one merchant due in one second${what}`,
    expects: `all ${NEIGHBOURS_HOLDS} automatic captures of a neighbour done within ${LATE_MS / 1_000} s, none expired`,
    run: (target) => beside(target, holds, tokenId),
  };
}

async function beside({ file, createMerchant }: Target, holds: number, tokenId: string) {
  const [noisy, neighbour] = [await createMerchant(), await createMerchant()];
  const agent = new Agent({ connect: { localAddress: newAddress() }, connections: SENDERS });
  const answers = new Answers();
  const faults: string[] = [];
  const call = async (apiKey: string, path: string, body?: object): Promise<Hold> => {
    const answer = await request(file.baseUrl + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...JSON_TYPE, authorization: `Bearer ${apiKey}` },
      ...(body && { body: JSON.stringify(body) }),
      dispatcher: agent,
    });
    if (body !== undefined) answers.add(answer.statusCode);
    return (await answer.body.json()) as Hold;
  };
  const dueMs = Math.ceil((Date.now() + AT_LEAST_MS + (holds / PLACED_PER_SECOND) * 1_000) / 1_000) * 1_000;
  const at = (ms: number) => new Date(ms).toISOString();
  const place = (apiKey: string, token: string, times: object) => {
    const order = { amount: 1000, currency: 'EUR', terminalId: 'till-1', userId: 'ann' };
    return call(apiKey, '/preauthorization', { ...order, tokenId: token, ...times });
  };
  try {
    let placed = 0;
    const sender = async () => {
      while (placed++ < holds) {
        const times = { captureAt: at(dueMs + (placed % 1_000)) };
        // Above its key's rate it comes again.
        while ((await place(noisy.apiKey, tokenId, times)).requestId === undefined) await delay(100);
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sender));
    const waiting = new Map<string, number>();
    const times = { captureAt: at(dueMs + 1_000), releaseAt: at(dueMs + 1_000 + RELEASED_AFTER_MS) };
    for (let index = 0; index < NEIGHBOURS_HOLDS; index++) {
      const { requestId = '' } = await place(neighbour.apiKey, 'tok_sandbox_ok', times);
      waiting.set(requestId, dueMs + 1_000);
    }
    if (Date.now() > dueMs) faults.push('the holds were not placed before they fell due');
    await delay(dueMs + 1_000 - Date.now());
    let latestMs = 0;
    const untilMs = dueMs + 1_000 + 2 * RELEASED_AFTER_MS;
    while (waiting.size > 0 && Date.now() < untilMs) {
      for (const [requestId, fromMs] of waiting) {
        const { phase, amountCaptured } = await call(neighbour.apiKey, `/preauthorization/${requestId}`);
        if (amountCaptured === 0 && phase === 'AUTHORIZED') continue;
        waiting.delete(requestId);
        answers.add(amountCaptured === 1000 ? 'captured in time' : phase);
        latestMs = Math.max(latestMs, Date.now() - fromMs);
        if (amountCaptured !== 1000) faults.push(`a neighbour's hold became ${phase} uncaptured`);
      }
      await delay(50);
    }
    if (waiting.size > 0) faults.push(`${waiting.size} of the neighbour's holds stayed as they were`);
    if (latestMs > LATE_MS) faults.push(`the neighbour's last capture was ${latestMs} ms late`);
    process.stderr.write(`the neighbour's last automatic capture: ${latestMs} ms after it was due\n`);
    return { answers, faults: [...faults, ...answers.notAmong([201, 429, 'captured in time'])] };
  } finally {
    await agent.destroy();
  }
}

export const STORMS: readonly Attack[] = [
  storm(600, 'tok_sandbox_ok'),
  storm(6_000, 'tok_sandbox_ok'),
  storm(1_500, 'tok_sandbox_capture_timeout_lost', ', which get no answer'),
];
