/** Asks a receiver how often it acted on each notification. No status code shows that something was booked twice. */
import { textOf, withDeadline } from '../../deadline.ts';
import { CommandFailed } from '../command-failed.ts';
import type { Checked } from './check.ts';
import { besides } from './pages.ts';
import type { Sent } from './sample.ts';

/** As for a delivery. */
const ATTEMPT_MS = 10_000;

/** How questions go out. */
interface Asking {
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
}

/**
 * `GET {url}/{requestId}` for each notification that was sent; the answer is 200 and a whole number. Returns a failure
 * for each delivery on which the receiver acted more often than it may: fewer may mean that it acts later. Throws
 * CommandFailed for another answer.
 */
export async function findEffects(url: string, checked: readonly Checked[], asking: Asking): Promise<Checked[]> {
  const found: Checked[] = [];
  for (const each of checked) {
    for (const requestId of new Set(each.requests.map((sent) => sent.requestId))) {
      if (requestId === undefined) continue;
      const requests = each.requests.filter((sent) => sent.requestId === requestId);
      const most = Math.max(...requests.map(({ effects }) => effects));
      const count = await countOf(`${url}/${requestId}`, asking);
      if (count <= most) continue;
      found.push(
        excess(each, requests, `acted ${count} times on ${requestId} instead of ${most === 1 ? 'once' : 'never'}`),
      );
      break;
    }
  }
  return found;
}

function excess({ delivery, answers }: Checked, requests: readonly Sent[], what: string): Checked {
  const name = `effects of ${delivery.name}`;
  const of = (mend: string, point: 2 | 3, grade: 'D' | 'F') => {
    return { delivery: { ...delivery, name, mend, read: besides(point) }, requests, answers, failure: { grade, what } };
  };
  if (requests.every(({ must }) => must.startsWith('refuse'))) return of('verify before you act', 3, 'F');
  if (requests.every(({ effects }) => effects === 0)) return of('answer it, and book nothing', 3, 'D');
  return of('store (merchantId, requestId) under a unique key in the transaction that acts', 2, 'D');
}

/** Throws CommandFailed unless the answer is a whole number. */
async function countOf(address: string, { fetch, signal }: Asking): Promise<number> {
  const answer = await withDeadline(ATTEMPT_MS, signal, async (within) => {
    const response = await fetch(address, { signal: within, redirect: 'manual' });
    return { status: response.status, text: (await textOf(response)).trim() };
  }).catch((error: Error & { cause?: { code?: string } }) => {
    throw new CommandFailed(`--effects: ${address} does not answer: ${error.cause?.code ?? error.message}; no grade`);
  });
  if (answer.status === 200 && /^\d{1,9}$/.test(answer.text)) return Number(answer.text);
  throw new CommandFailed(`--effects: ${address} answers ${answer.status} and no whole number alone; no grade`);
}
