/** What the service says of each hold in the end, beside what the processors did. */
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry } from '../../../services/sandbox/ledger/entry.ts';
import { openOracle } from '../../services/sandbox/oracle.ts';
import type { Deployment } from '../deployment/deployment.ts';
import type { Caller } from '../obedient/caller.ts';
import type { Story } from './traffic.ts';

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
  const ofUser = Map.groupBy(placed, ({ userId }) => userId);
  const untrue: string[] = [];
  for (const { userId, deeds } of stories) {
    const [first] = deeds;
    if (first?.requestId === undefined || first.kind === 'oct') continue;
    const { merchant, requestId } = first;
    const { status, body } = await caller.send({ apiKey: merchant.apiKey, path: `/preauthorization/${requestId}` });
    const told = status === 200 ? `${PHASES[body.phase] ?? body.phase} ${sumsOf(body)}` : `${status} ${body.code}`;
    const [entry, ...others] = ofUser.get(userId) ?? [];
    const isThere = !entry || others.length > 0 ? `${others.length} others at the processor` : thereOf(entry);
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

function thereOf({ answer, captured, voided, refunded }: Entry): string {
  const phase =
    { [Answer.APPROVED]: 'PLACED', [Answer.UNSPECIFIED]: 'AWAITING_CHECKOUT' }[answer as number] ?? 'FAILED';
  return `${phase} ${sumsOf({ amountCaptured: captured, amountReleased: voided, amountRefunded: refunded })}`;
}
