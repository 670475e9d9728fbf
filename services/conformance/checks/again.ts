import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ServiceError } from '@grpc/grpc-js';
import { Answer, type Entry } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { told } from '../answer.ts';
import { type Check, lastCheck } from '../check.ts';
import type { Kit } from '../kit.ts';
import type { Answered } from '../requests.ts';
import { endAccepted } from './closing.ts';
import { canKill, restart } from './kills.ts';

const AT_ONCE = 8;

/** Everything once more, long after it was answered. */
export const AGAIN: readonly Check[] = [
  lastCheck('again: all that was asked gets its answer of then, and nothing is done twice', async (kit) => {
    await sleep(Math.max(0, kit.memory.lastAnsweredMs + kit.profile.repeatAfterMs - Date.now()));
    await repeatAll(kit);
  }),
  {
    name: 'kill -9: afterwards all that was asked gets its answer of then, fences hold, and nothing is done twice',
    skip: canKill,
    when: 'last',
    async run(kit) {
      await restart(kit);
      await repeatAll(kit);
    },
  },
];

async function repeatAll(kit: Kit): Promise<void> {
  await endAccepted(kit);
  const { answered, refused, fenced } = kit.memory;
  const before = await sumsOf(kit);
  const final = [...answered.values(), ...refused.values()].filter(({ result }) => result.answer !== Answer.ACCEPTED);
  const found = [
    ...(await eachOf(final, (one) => repeat(kit, one))),
    ...(await eachOf([...fenced.values()], (request) => kit.refusedAsFenced(request).then(() => undefined, messageOf))),
  ];
  const after = await sumsOf(kit);
  const changed = [...after].filter(([id, sums]) => !isDeepStrictEqual(sums, before.get(id)));
  const moved = changed.map(([id, sums]) => `the books of ${id} were ${before.get(id)}, and are ${sums}`);
  assert.equal(found.length + moved.length, 0, [...found.slice(0, 5), ...moved.slice(0, 5)].join('\n'));
}

/** What is wrong with the answer to a request that was answered before, and with that of an inquiry. */
async function repeat(kit: Kit, { request, result }: Answered): Promise<string | undefined> {
  const name = `${request.method} ${request.requestId}, which was answered ${told(result)}`;
  try {
    const again = await kit.ask(request);
    if (!isDeepStrictEqual(again, result)) return `${name}: the answer is ${told(again)} now, or differs otherwise`;
    const inquiry = await kit.inquire(request);
    return isDeepStrictEqual(inquiry.result, result) ? undefined : `${name}: an inquiry says something else`;
  } catch (error) {
    return `${name}: ${messageOf(error as Error)}`;
  }
}

const messageOf = (error: Error | ServiceError) => error.message;

/** The sums of every entry of this run that nobody but the kit changes, as text, by identifier. */
async function sumsOf(kit: Kit): Promise<Map<string, string>> {
  const entries = await kit.list();
  const ours = entries.filter(({ requestId, authorizationRequestId }) =>
    [requestId, authorizationRequestId].some((id) => kit.memory.sent.has(id)),
  );
  return new Map(ours.map((entry) => [entry.requestId, textOf(entry)]));
}

function textOf({ answer, amount, captured, voided, incremented, endedAt }: Entry): string {
  // An authorization that the processor ends by itself gives back what was left.
  const given = endedAt ? '' : `, voided ${voided}`;
  return `${Answer[answer]}, amount ${amount}, captured ${captured}, incremented ${incremented}${given}`;
}

async function eachOf<T>(items: readonly T[], of: (item: T) => Promise<string | undefined>): Promise<string[]> {
  const waiting = [...items];
  const found: string[] = [];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      const wrong = await of(item);
      if (wrong !== undefined) found.push(wrong);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return found;
}
