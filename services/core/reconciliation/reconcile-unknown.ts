import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { connectionOptions, DatabaseClient } from '../../../platform/database-client.ts';
import type { Sender } from '../kinds/facts.ts';
import { inNameOf } from '../storage/audit-log/actor.ts';
import { endReconciling, noticeTimeline, reconcilingSince, wentBackTo } from '../storage/reconciling.ts';
import { carryOut, type Plan } from './carry-out.ts';
import { copyEntries, type Ledgers, type Reading, readAgain } from './copy-entries.ts';
import type { EntryCount } from './drift.ts';
import { DOUBTS, KNOWN_THERE, READ_INVALID } from './ledger-queries.ts';
import { type ReportLine, reportLine } from './merchant-report.ts';
import { readUnknown, type UnknownEntry } from './unknown-entry.ts';

/** What an operator decided: identifiers at the processor, or `all`. */
export interface Decisions {
  readonly importing: readonly string[];
  readonly givingBack: readonly string[];
  /** `all` is what the processors did before this time; absent = at any time. */
  readonly to?: Date | undefined;
  /** In whose name; each change is audited. */
  readonly operator: string;
}

export interface ReconcileParts extends Pick<Reading, 'mostUnknown'> {
  readonly databaseUrl: string;
  readonly processors: Ledgers;
  readonly sender: Sender;
  readonly decisions: Decisions;
  /** What changed at the processors before is not read; absent = what cannot be lost is not, or all is read. */
  readonly from?: Date | undefined;
  /** How long to wait before reading again what may have changed while it was read, milliseconds. */
  readonly patienceMs: number;
  /** For how long calls of before the database went back may still arrive at a processor, milliseconds. */
  readonly callsOverMs: number;
}

/** What was found and done; left = unknown here still, or not to be read. */
export interface Reconciled {
  /** The books were read since this time; absent = whole. */
  readonly from: Date | undefined;
  readonly ledgers: readonly EntryCount[];
  readonly imported: number;
  readonly givenBack: number;
  readonly left: number;
  /** What the merchants are told: each operation that was unknown here. */
  readonly report: readonly ReportLine[];
  /** The database went back in time, and everything that it lost is known now: the service answers everything again. */
  readonly ended: boolean;
}

/**
 * Shows what only the processors know, and imports it or gives it back as the operator decided. Before anything is
 * changed, the books must be whole, ours, and free of contradictions, and the processor must confirm each entry. Throws
 * an Error of one line when that is not so; afterwards what fails is a line of its own, and the others are done.
 * Entries that cannot be read are named. Ends the reconciling of the database when nothing is unknown any more.
 */
export async function reconcile(parts: ReconcileParts, tell: (line: string) => void): Promise<Reconciled> {
  const client = new DatabaseClient(connectionOptions(parts.databaseUrl));
  await client.connect();
  try {
    const { since, lostFrom } = await begun(parts);
    const from = parts.from ?? lostFrom;
    const { mostUnknown } = parts;
    const ledgers = await copyEntries(client, parts.processors, 'THROW', { mostUnknown, changedFrom: from });
    await refuseContradictions(client, parts);
    const known = await refuseForeign(client, parts, from);
    const unknown = await readUnknown(client);
    const plans = await confirmAll(parts, planOf(unknown, parts.decisions, known));
    const done = { from, ledgers, imported: 0, givenBack: 0, left: 0, report: [] as ReportLine[], ended: false };
    for (const { request_id: requestId, processor, what } of (await client.query(READ_INVALID)).rows) {
      tell(`INVALID ${requestId || 'entry without an identifier'} at ${processor}: ${what}`);
      done.left++;
    }
    await carryOut(parts, plans, unknown, ({ plan, became, line, ...more }) => {
      tell(line);
      done.report.push(reportLine(plan.entry, became, more));
      if (became === 'IMPORTED') done.imported++;
      else if (became === 'GAVE BACK') done.givenBack++;
      else done.left++;
    });
    const isAllRead = !from || (lostFrom && from <= lostFrom);
    if (since && isAllRead && done.left === 0) done.ended = await ended(parts, since).catch(() => false);
    return done;
  } finally {
    await client.end();
  }
}

/**
 * Since when the database is being reconciled, undefined = it is not, and since when changes at the processors may be
 * lost, undefined = that is not known. Waits until no call of before can arrive at a processor any more.
 */
async function begun({ sender, callsOverMs }: ReconcileParts): Promise<Record<'since' | 'lostFrom', Date | undefined>> {
  const { query } = sender.database;
  await noticeTimeline(query, false);
  const since = await reconcilingSince(query);
  if (since) await delay(Math.max(0, since.getTime() + callsOverMs - Date.now()));
  const to = await wentBackTo(query);
  return { since, lostFrom: to && new Date(to.getTime() - MARGIN_MS) };
}

/** Longer than what is told to core at a later time than it was done, or by another clock, is late. */
const MARGIN_MS = 3_600_000;

function ended({ sender, decisions }: ReconcileParts, since: Date): Promise<boolean> {
  const actor = decisions.operator === '' ? 'reconcile' : `operator/${decisions.operator}`;
  return inNameOf(actor, () => endReconciling(sender.database, since, sender.clock()));
}

/** An authorization may be of an older page than its captures: what contradicts itself is read again. */
async function refuseContradictions(client: pg.Client, { processors, patienceMs }: ReconcileParts): Promise<void> {
  for (let tries = 0; ; tries++) {
    const { rows } = await client.query<{ request_id: string; processor: string; what: string }>(DOUBTS);
    const [first] = rows;
    if (!first) return;
    if (tries === MOST_TRIES || rows.length > MOST_SUSPECTS) {
      const others = rows.length > 1 ? `, and ${rows.length - 1} more` : '';
      throw new Error(
        `the books of the processor ${first.processor} contradict themselves: ${first.request_id} ` +
          `${first.what}${others}`,
      );
    }
    await delay(patienceMs);
    const suspects = rows.map(({ request_id: requestId }) => requestId);
    await readAgain(client, processors, suspects, 'THROW');
  }
}

const MOST_TRIES = 2;
const MOST_SUSPECTS = 1_000;

/** What we have as done must be in the books of its processor. Returns how many there are, by processor. */
async function refuseForeign(
  client: pg.Client,
  { processors }: ReconcileParts,
  from: Date | undefined,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const since = from ? new Date(from.getTime() + CLOCKS_DIFFER_MS) : '-infinity';
  for (const name of processors.keys()) {
    const { rows } = await client.query<{ known: number; wrong: number; first: string }>(KNOWN_THERE, [name, since]);
    const { known, wrong, first } = rows[0] ?? { known: 0, wrong: 0, first: '' };
    if (wrong > 0) {
      throw new Error(
        `the books of the processor ${name} are not whole, or another installation's: ` +
          `${wrong} of the ${known} operations that are done here are not done there, such as ${first}`,
      );
    }
    counts.set(name, known);
  }
  return counts;
}

/** More than the clocks of core and of a processor differ. */
const CLOCKS_DIFFER_MS = 60_000;

type Unconfirmed = Omit<Plan, 'answer'>;

/**
 * What is to be done with each entry, in an order in which it can be. Captures and changes can be booked on a hold
 * only, so the authorization of what is decided about is imported before, with what was added to it, whatever becomes
 * of it. Throws for an identifier that is not unknown here.
 */
function planOf(
  unknown: readonly UnknownEntry[],
  decisions: Decisions,
  known: ReadonlyMap<string, number>,
): Unconfirmed[] {
  const { importing, givingBack } = decisions;
  const named = new Set(unknown.map(({ requestId }) => requestId));
  const strange = [...importing, ...givingBack].find((id) => id !== ALL && !named.has(id));
  if (strange !== undefined) throw new Error(`${strange} is nothing that only a processor knows`);
  const twice = importing.find((id) => givingBack.includes(id));
  if (twice !== undefined) throw new Error(`${twice} cannot be both imported and given back`);
  const empty = unknown.find(({ processor }) => known.get(processor) === 0);
  if (empty && (importing.includes(ALL) || givingBack.includes(ALL))) {
    throw new Error(
      `nothing of ours is in the books of the processor ${empty.processor}, so they may be another installation's: ` +
        `name each entry instead of all, or read from an earlier time on`,
    );
  }
  const plans = unknown.map((entry) => ({ entry, verb: verbOf(entry, decisions) }));
  const lost = new Map(
    plans.filter(({ entry }) => entry.kind === 'AUTHORIZATION').map(({ entry, verb }) => [entry.requestId, verb]),
  );
  const isBooked = ({ entry, verb }: Unconfirmed) => {
    const authorization = entry.authorizationRequestId ?? '';
    if (isChange(entry)) return lost.has(authorization) && (verb ?? lost.get(authorization)) !== undefined;
    return verb === 'import' || (verb === 'give-back' && entry.kind === 'CAPTURE');
  };
  const dependent = new Set(plans.filter(isBooked).map(({ entry }) => entry.authorizationRequestId));
  const inOrder = plans.map((plan) => {
    const { kind, requestId, authorizationRequestId } = plan.entry;
    const isNeeded = isChange(plan.entry) && dependent.has(authorizationRequestId);
    const isFirst = kind === 'AUTHORIZATION' ? dependent.has(requestId) : isNeeded;
    return isFirst ? { ...plan, verb: 'import' as const } : plan;
  });
  // What is left of such an authorization is given back after its captures.
  const isGivenBackLast = ({ entry, verb }: Unconfirmed) =>
    verb === 'give-back' && entry.kind === 'AUTHORIZATION' && dependent.has(entry.requestId);
  return [...inOrder, ...plans.filter(isGivenBackLast)];
}

function isChange({ kind }: UnknownEntry): boolean {
  return kind === 'INCREMENT' || kind === 'EXTENSION';
}

const ALL = 'all';

function verbOf(entry: UnknownEntry, { importing, givingBack, to }: Decisions): Plan['verb'] {
  if (importing.includes(entry.requestId)) return 'import';
  if (givingBack.includes(entry.requestId)) return 'give-back';
  if (to && entry.actedAt >= to) return undefined;
  // The page of a lost checkout that is open is of no use to anybody.
  const isOpenCheckout = entry.kind === 'AUTHORIZATION' && entry.answer === 'UNSPECIFIED';
  if (importing.includes(ALL)) return isOpenCheckout ? 'give-back' : 'import';
  return givingBack.includes(ALL) ? 'give-back' : undefined;
}

const INQUIRIES_AT_ONCE = 128;

/** Asks the processor about each entry that is to be changed: it must say the same as its books. */
async function confirmAll({ sender }: ReconcileParts, plans: readonly Unconfirmed[]): Promise<Plan[]> {
  const confirmed: Plan[] = [];
  for (let first = 0; first < plans.length; first += INQUIRIES_AT_ONCE) {
    const part = plans.slice(first, first + INQUIRIES_AT_ONCE);
    confirmed.push(...(await Promise.all(part.map((plan) => confirm(sender, plan)))));
  }
  return confirmed;
}

async function confirm(sender: Sender, plan: Unconfirmed): Promise<Plan> {
  const { entry, verb } = plan;
  if (verb === undefined || entry.changeHere !== null) return { ...plan, answer: { found: 'NO_ANSWER' } };
  const answer = await sender.processors.of(entry).inquire({ ...entry, processorAccount: entry.account });
  if (answer.found === 'NO_ANSWER')
    throw new Error(`the processor ${entry.processor} does not answer about ${entry.requestId}`);
  const said = answer.found === 'DONE' ? answer.outcome.answer : answer.found;
  const expected = entry.answer === 'APPROVED' ? 'APPROVED' : 'AT_WORK';
  if (said === expected) return { ...plan, answer };
  throw new Error(
    `the processor ${entry.processor} contradicts its books: ${entry.requestId} is ${entry.answer} there, and it ` +
      `answers ${said}`,
  );
}
