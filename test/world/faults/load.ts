/** Overload: more than the machine's capacity. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment, Merchant } from '../../torture/deployment/deployment.ts';
import type { Intention, Told } from '../merchants/intention.ts';
import type { Obedient } from '../merchants/obedient.ts';
import { captureOf, holdOf } from '../merchants/stories.ts';
import type { Fault, Stage } from '../play.ts';
import { seconds } from './processes.ts';

/** Holds of other merchants, three times as many as the machine can place. */
export const overloadByOthers: Fault<Stage, Obedient> = {
  name: 'overload by others',
  target: 'load',
  longestMs: 6_000,
  async strike({ merchants }, durationMs) {
    const flood = await pour(merchants, 3 * merchants.holdsPerSecond, durationMs, (index) => {
      const merchant = merchants.floods[index % merchants.floods.length] as Merchant;
      return holdOf(merchant, merchants.stories.nextUser(), 'tok_sandbox_ok');
    });
    return { what: `${flood} by ${merchants.floods.length} other merchants` };
  },
};

/** Captures of one merchant on one hold, three times as many as the machine can place holds. */
export const overloadByOne: Fault<Stage, Obedient> = {
  name: 'overload by one merchant',
  target: 'load',
  longestMs: 6_000,
  leadMs: 1_000,
  async strike({ merchants }, durationMs) {
    const merchant = merchants.merchants.find(({ severalCaptures }) => severalCaptures) as Merchant;
    const userId = merchants.stories.nextUser();
    const placed = await merchants.client.want(holdOf(merchant, userId, 'tok_sandbox_ok', 999_999_999_999));
    if (placed.outcome !== 'done') return undefined;
    const handle = await merchants.client.handleOf(placed);
    const flood = await pour(merchants, 3 * merchants.holdsPerSecond, durationMs, (index) =>
      captureOf(merchant, userId, handle, index + 1),
    );
    return { what: `${flood} by one merchant on one hold` };
  },
};

/** Sends at a rate, whether anything is answered or not, and waits until all have an outcome. */
async function pour(
  merchants: Obedient,
  ratePerSecond: number,
  durationMs: number,
  intention: (index: number) => Intention,
) {
  const running = new Set<Promise<Told>>();
  const outcomes: Record<Told['outcome'], number> = { done: 0, 'not done': 0, undecided: 0 };
  let sent = 0;
  let most = 0;
  const startedMs = performance.now();
  for (let spentMs = 0; spentMs < durationMs; spentMs = performance.now() - startedMs) {
    for (; sent < (spentMs / 1_000) * ratePerSecond && running.size < MOST; sent++) {
      // It gives up as soon as it is told to retry: then nothing may ever come of it.
      const one = merchants.client.want(intention(sent), 0);
      running.add(one);
      void one.then(({ outcome }) => {
        running.delete(one);
        outcomes[outcome]++;
      });
    }
    most = Math.max(most, running.size);
    await delay(5);
  }
  const soFar = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  return (
    `${sent} calls in ${seconds(durationMs)} where ${Math.round(merchants.holdsPerSecond)}/s are possible, ${most} ` +
    `in flight at most, ${outcomes.done} of ${soFar} done by its end`
  );
}

/** Sockets that one flood may use. */
const MOST = 5_000;

/** Event streams opened and dropped, 500 per second. */
export const streamsDropped: Fault<Deployment, Obedient> = {
  name: 'streams dropped',
  target: 'streams',
  longestMs: 15_000,
  async strike({ stage, merchants: { floods } }, durationMs) {
    const { opened, dropped, refused } = await dropStreams(stage, floods[0] as Merchant, durationMs);
    return {
      what:
        `${opened} opened, ${dropped} dropped after their head, ${refused} refused, the rest dropped before, in ` +
        `${seconds(durationMs)}`,
    };
  },
};

/** Long enough for the gateway to have called core, short enough for a key to have fewer than its 100 streams open. */
const IMPATIENT_MS = 180;

/** Opens 500 streams per second and drops each as soon as it begins, or fails. */
export async function dropStreams({ baseUrl }: Deployment, { apiKey }: Merchant, durationMs: number) {
  const { hostname, port, host } = new URL(baseUrl);
  const head = `GET /operations/stream HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`;
  const counts = { opened: 0, dropped: 0, refused: 0 };
  const open = new Set<Promise<void>>();
  const openOne = async () => {
    const socket = connect(Number(port), hostname);
    const impatience = setTimeout(() => socket.destroy(), IMPATIENT_MS);
    socket.on('error', () => undefined);
    socket.write(head);
    counts.opened++;
    socket.once('data', (chunk) => {
      if (chunk.toString('latin1').startsWith('HTTP/1.1 200')) counts.dropped++;
      else counts.refused++;
      socket.destroy();
    });
    await once(socket, 'close').catch(() => undefined);
    clearTimeout(impatience);
  };
  const startedMs = performance.now();
  for (let spentMs = 0; spentMs < durationMs; spentMs = performance.now() - startedMs) {
    while (counts.opened < spentMs / 2 && open.size < 1_000) {
      const one = openOne().finally(() => open.delete(one));
      open.add(one);
    }
    await delay(5);
  }
  await Promise.all(open);
  return counts;
}
