/** What the service says in the end, and what merchants were notified of, beside what the processors did. */
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry } from '../../../services/sandbox/ledger/entry.ts';
import { openOracle } from '../../services/sandbox/oracle.ts';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import type { Notification } from '../../torture/deployment/receiver.ts';
import type { Caller } from '../merchants/caller.ts';
import type { Story } from '../merchants/customers.ts';
import { firstsAmong, sumsOver } from './ledger.ts';

/** The entries of both processors' books. */
export function entriesOf({ ledgerFile, otherLedgerFile }: Deployment): Entry[] {
  const oracles = [ledgerFile, otherLedgerFile].map(openOracle);
  try {
    return oracles.flatMap((oracle) => oracle.entries());
  } finally {
    for (const oracle of oracles) oracle.close();
  }
}

/** The holds that the service tells of otherwise than the processor's books do. */
export async function untrueOf(
  caller: Caller,
  stories: readonly Story[],
  entries: readonly Entry[],
): Promise<string[]> {
  const placed = entries.filter(({ kind }) => kind === 'authorization' || kind === 'checkout');
  const holds = placed.filter(({ renews }) => renews === '');
  const ofUser = Map.groupBy(holds, ({ userId }) => userId);
  const chains = Map.groupBy(placed, firstsAmong(entries));
  const untrue: string[] = [];
  for (const { userId, deeds } of stories) {
    const [first] = deeds;
    if (first?.requestId === undefined || first.kind === 'oct') continue;
    const { merchant, requestId } = first;
    const { status, body } = await caller.send({ apiKey: merchant.apiKey, path: `/preauthorization/${requestId}` });
    const told = status === 200 ? `${PHASES[body.phase] ?? body.phase} ${sumsOf(body)}` : `${status} ${body.code}`;
    const [entry, ...others] = ofUser.get(userId) ?? [];
    const isThere =
      !entry || others.length > 0
        ? `${others.length} others at the processor`
        : thereOf(entry, chains.get(entry) ?? []);
    if (told !== isThere) untrue.push(`${first.kind} ${requestId} of ${userId} is told as ${told}, and is ${isThere}`);
  }
  return untrue;
}

const PHASES: Readonly<Record<string, string>> = { AUTHORIZED: 'PLACED', CLOSED: 'PLACED' };

interface Sums {
  readonly amountCaptured: number;
  readonly amountReleased: number;
  readonly amountRefunded: number;
}

const sumsOf = ({ amountCaptured, amountReleased, amountRefunded }: Sums) =>
  [amountCaptured, amountReleased, amountRefunded].join('/');

function thereOf({ answer }: Entry, authorizations: readonly Entry[]): string {
  const { captured, voided, refunded } = sumsOver(authorizations);
  const phase =
    { [Answer.APPROVED]: 'PLACED', [Answer.UNSPECIFIED]: 'AWAITING_CHECKOUT' }[answer as number] ?? 'FAILED';
  return `${phase} ${sumsOf({ amountCaptured: captured, amountReleased: voided, amountRefunded: refunded })}`;
}

/**
 * Compares the notifications with the processors' acts for these customers: each act is told under one requestId, the
 * amounts of each hold are those of the books, and what was lost and is told again says that it was imported. Returns
 * how many acts there were, how many operations were told again, and what is wrong.
 */
export function wronglyTold(
  received: ReadonlyMap<string, readonly Notification[]>,
  stories: readonly Story[],
  entries: readonly Entry[],
  isLost: (requestId: string) => boolean,
) {
  const users = new Set(stories.map(({ userId }) => userId));
  const done = entries.filter(({ answer }) => answer === Answer.APPROVED);
  const firsts = [...received.values()].flatMap(([first]) => (first?.reference === undefined ? [] : [first]));
  const toldAbout = Map.groupBy(firsts, ({ reference }) => reference);
  const toldOn = Map.groupBy(firsts, ({ holdRequestId }) => holdRequestId);
  const firstOf = firstsAmong(entries);
  const doneOn = Map.groupBy(done, (entry) => (firstOf(entry) === entry ? '' : firstOf(entry).requestId));
  const wrong: string[] = [];
  let acts = 0;
  for (const first of (doneOn.get('') ?? []).filter(({ userId }) => users.has(userId))) {
    const onIt = doneOn.get(first.requestId) ?? [];
    for (const { kind, requestId, reference } of [first, ...toldAlone(onIt)]) {
      const { length } = toldAbout.get(reference) ?? [];
      if (length !== 1) wrong.push(`the ${kind} ${requestId} is told under ${length} requestIds`);
      acts++;
    }
    const told = toldOn.get(toldAbout.get(first.reference)?.[0]?.requestId) ?? [];
    const [isTold, isThere] = [toldSums(told), doneSums(first, onIt)];
    if (first.kind !== 'credit' && isTold !== isThere)
      wrong.push(`the ${first.kind} ${first.requestId} is told as ${isTold}, and is ${isThere}`);
  }
  const again = [...received].filter(([requestId, { length }]) => length > 1 && isLost(requestId));
  for (const [requestId, [, ...others]] of again)
    if (!others.every(({ imported }) => imported)) wrong.push(`${requestId} is told again as if it were new`);
  return { acts, again: again.length, wrong };
}

function toldSums(told: readonly Notification[]): string {
  const sum = (...operations: readonly string[]) =>
    told.reduce((sum, { operation, amount }) => sum + (operations.includes(operation) ? amount : 0), 0);
  return inWords(sum('CAPTURE'), sum('REFUND'), sum('RELEASE', 'EXPIRY'));
}

/** What is told by itself. Of a kept hold nobody is told of a renewal that came too late, nor of any renewal's void. */
function toldAlone(onIt: readonly Entry[]): readonly Entry[] {
  const isKept = onIt.some(({ renews }) => renews !== '');
  return isKept ? onIt.filter(({ kind }) => kind === 'capture' || kind === 'refund') : onIt;
}

function doneSums(first: Entry, onIt: readonly Entry[]): string {
  const { captured, refunded, voided } = sumsOver([first, ...onIt.filter(({ renews }) => renews !== '')]);
  // What a capture gave back by closing the hold is told with the capture.
  const byCaptures = onIt.reduce((sum, entry) => sum + (entry.kind === 'capture' ? entry.voided : 0), 0);
  return inWords(captured, refunded, voided - byCaptures);
}

const inWords = (captured: number, refunded: number, voided: number) =>
  `${captured} captured, ${refunded} refunded, ${voided} given back`;
