import { setTimeout as delay } from 'node:timers/promises';
import type { Sender } from '../kinds/sender.ts';
import type { InvalidEntry } from '../processor/read-entries.ts';
import { inNameOf } from '../storage/audit-log/actor.ts';
import { endReconciling, noticeTimeline, readWaiting, reconcilingSince, wentBackTo } from '../storage/reconciling.ts';
import { carryOut, type Plan } from './carry-out.ts';
import { type Comparison, comparing, copyEntries, type Ledgers, type Reading, readAgain } from './copy-entries.ts';
import type { ReportLine } from './merchant-report.ts';
import { lineOf, readUnknown, type UnknownEntry } from './unknown-entry.ts';

/** An operator's decisions. */
export interface Decisions {
  /** Identifiers at the processor, or `all`. */
  readonly importing: readonly string[];
  /** Captures that cannot be imported, because their holds have failed here: by their identifiers. */
  readonly refunding: readonly string[];
  /** `all` is what the processors did before this time; absent = at any time. */
  readonly to?: Date | undefined;
  /** Names of processors whose books the operator says to be this installation's, although nothing there is known here. */
  readonly ours: readonly string[];
  /** Operations done here that the operator knows to be missing in the processor's books, or to differ there. */
  readonly accepting: readonly string[];
  /** True when reconciling ends once nothing is unknown any more. */
  readonly ending: boolean;
  /** In whose name; each change is audited. Empty = nothing is changed. */
  readonly operator: string;
}

export interface ReconcileParts extends Pick<Reading, 'mostUnknown'> {
  readonly databaseUrl: string;
  readonly processors: Ledgers;
  readonly sender: Sender;
  readonly decisions: Decisions;
  /**
   * Earlier changes at the processors are not read; absent = the books are read from the first time that may be lost.
   */
  readonly from?: Date | undefined;
  /** Milliseconds to wait before entries that changed during the reading are read again. */
  readonly patienceMs: number;
  /** For how long calls of before the database went back may still arrive at a processor, milliseconds. */
  readonly callsOverMs: number;
}

type Tell = (line: string, report?: ReportLine) => void;

/**
 * Shows what only the processors know, and imports it as the operator decided. Before anything is
 * changed, the books must be whole, ours, and free of contradictions, and the processor must confirm each entry;
 * otherwise throws an Error of one line. Afterwards an entry that fails does not stop the others. Ends the reconciling
 * of the database when the operator says so and nothing is unknown any more: then the service answers everything again,
 * and holds of before are captured, released and end at their times. Without a decision nothing is changed. Calls `tell`
 * with a line
 * for each entry that cannot be read, and for each other one when its part is done, then with its line of the
 * merchant's report.
 *
 * Returns since when the books were read (`from`, undefined = whole), how many entries each has, what was done (`left`
 * = still unknown here, or not to be read), which processor keeps reconciling from ending because its books are missing
 * (`unread`), the lines of the merchants' reports, why it broke off (`failure`), if it did, whether reconciling `ended`,
 * and if not, what `waits` for its end when it could end now.
 */
export function reconcile(parts: ReconcileParts, tell: Tell) {
  return comparing(parts.databaseUrl, async (client) => {
    const { sender, decisions, processors, mostUnknown } = parts;
    const { query } = sender.database;
    await noticeTimeline(query, false);
    const since = await reconcilingSince(query);
    // No call of before may arrive at a processor any more.
    if (since) await delay(Math.max(0, since.getTime() + parts.callsOverMs - Date.now()));
    const to = await wentBackTo(query);
    const lostFrom = to && new Date(to.getTime() - MARGIN_MS);
    const from = parts.from ?? lostFrom;
    const comparison = { client, processors, unreadable: 'THROW' } as const;
    const readAt = sender.clock();
    const unread = since && (await findUnread(comparison, lostFrom));
    const ledgers = await copyEntries(comparison, { mostUnknown, changedFrom: from });
    await refuseContradictions(comparison, parts.patienceMs);
    const known = await refuseForeign(comparison, parts.patienceMs, { since: from, readAt }, decisions.accepting);
    const unknown = await readUnknown(client);
    refuseWrong(decisions, unknown, known);
    const plans = await confirmAll(sender, planOf(unknown, decisions));
    const { rows: invalid } = await client.query<InvalidRow>(READ_INVALID);
    for (const { requestId, processor, what } of invalid) {
      tell(`INVALID ${requestId || 'entry without an identifier'} at ${processor}: ${what}`);
    }
    const { report, failure } = await carryOutTelling(parts, plans, tell);
    const imported = report.filter(({ became }) => became === 'IMPORTED').length;
    const undone = report.filter(({ became }) => became === 'CLOSED' || became === 'REFUNDED').length;
    const more = imported + undone > 0 && failure === undefined ? await findMore(client, report) : [];
    for (const entry of more) tell(`UNKNOWN ${lineOf(entry)}`);
    const left = invalid.length + plans.length + more.length - imported - undone;
    const isAllRead = unread === undefined && (!from || (lostFrom && from <= lostFrom));
    const isOver = since && isAllRead && left === 0 && failure === undefined;
    const ended = isOver && decisions.ending ? await end(sender, decisions.operator, since).catch(() => false) : false;
    const waits = isOver && !ended ? await readWaiting(query) : undefined;
    return { from, ledgers, imported, undone, left, unread, report, failure, ended, waits };
  });
}

/** Carries plans out; `failure` = why it broke off. What was done before is known here now: no later run reports it. */
async function carryOutTelling({ sender, decisions }: ReconcileParts, plans: readonly Plan[], tell: Tell) {
  const report: ReportLine[] = [];
  try {
    await carryOut(sender, `operator/${decisions.operator}`, plans, (done) => {
      report.push(done.report);
      tell(done.line, done.report);
    });
  } catch (failure) {
    if (report.length === 0) throw failure;
    return { report, failure };
  }
  return { report, failure: undefined };
}

/** Finds what became of holds that were just stored: it could not be compared with them before, nor was it named. */
async function findMore(client: Comparison['client'], report: readonly ReportLine[]): Promise<UnknownEntry[]> {
  const open = report.filter(({ became }) => became === 'LEFT' || became === 'UNKNOWN');
  const named = new Set(open.map((line) => `${line.operation} ${line.processorRequestId} ${line.processor}`));
  const isNamed = ({ kind, requestId, processor }: UnknownEntry) => named.has(`${kind} ${requestId} ${processor}`);
  return (await readUnknown(client)).filter((entry) => entry.isHere && !isNamed(entry));
}

/** A processor may date an operation earlier than it was stored here: by another clock, or because it came late. */
const MARGIN_MS = 3_600_000;

interface InvalidRow extends InvalidEntry {
  readonly processor: string;
}

const READ_INVALID = `select request_id as "requestId", processor, what from invalid_entry
  order by processor, request_id`;

function end({ database, clock }: Sender, operator: string, since: Date): Promise<boolean> {
  return inNameOf(`operator/${operator}`, () => endReconciling(database, since, clock()));
}

/**
 * Finds a processor in use whose books are not read: operations lost there are found in them only. A processor is in
 * use when a contract names it, it has an open hold, or something was sent to it since the time that may be lost
 * (undefined = ever).
 */
async function findUnread({ client, processors }: Comparison, lostFrom: Date | undefined) {
  const values = [[...processors.keys()], lostFrom ?? '-infinity'];
  return (await client.query<{ processor: string }>(FIND_UNREAD, values)).rows[0]?.processor;
}

const FIND_UNREAD = `select processor from (
    select processor from merchant
    union all select processor from hold where phase = 'AUTHORIZED'
    union all select processor from sent where created_at >= $2
  ) in_use where processor <> '' and processor <> all ($1) order by processor limit 1`;

/** An authorization may be of an older page than its captures: what contradicts itself is read again. */
async function refuseContradictions(comparison: Comparison, patienceMs: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    const { rows } = await comparison.client.query<InvalidRow>(
      'select request_id as "requestId", processor, what from doubt',
    );
    const [first] = rows;
    if (!first) return;
    if (tries === MOST_TRIES || rows.length > MOST_SUSPECTS) {
      const others = rows.length > 1 ? `, and ${rows.length - 1} more` : '';
      throw new Error(
        `the books of the processor ${first.processor} contradict themselves: ${first.requestId} ` +
          `${first.what}${others}`,
      );
    }
    await delay(patienceMs);
    const suspects = rows.map(({ requestId }) => requestId);
    await readAgain(comparison, suspects);
  }
}

const MOST_TRIES = 2;
const MOST_SUSPECTS = 1_000;

/**
 * Checks that operations that are done here are in the books of their processor, but for those that the operator
 * accepts. Operations done after the reading are not in the copy, so differences are read again. Returns the number of
 * operations that agree, by processor.
 */
async function refuseForeign(
  comparison: Comparison,
  patienceMs: number,
  read: { readonly since: Date | undefined; readonly readAt: Date },
  accepting: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { client, processors } = comparison;
  const counts = new Map<string, number>();
  const since = read.since ? new Date(read.since.getTime() + CLOCKS_DIFFER_MS) : '-infinity';
  const missing = new Set<string>();
  for (const name of processors.keys()) {
    const compare = async (only?: readonly string[]) => {
      const { rows } = await client.query<KnownCounts>(COUNT_KNOWN, [name, since, read.readAt, only]);
      return rows[0] ?? { known: 0, wrong: 0, first: [] };
    };
    let found = await compare();
    const { known } = found;
    if (found.wrong > 0 && found.wrong <= MOST_SUSPECTS) {
      const { rows } = await client.query<{ id: string }>(FIND_WRONG, [name, since, read.readAt, undefined]);
      const suspects = rows.map(({ id }) => id);
      await delay(patienceMs);
      await readAgain(comparison, suspects);
      found = await compare(suspects);
    }
    const isTooMuch = found.wrong > found.first.length;
    const refused = found.first.filter((id) => isTooMuch || !accepting.includes(id));
    if (refused.length > 0) {
      throw new Error(
        `the books of the processor ${name} are not whole, or another installation's: ${found.wrong} of the ${known} ` +
          `operations that are done here are not done there, such as ${refused.slice(0, MOST_NAMED).join(', ')}; accept ` +
          'by --accept ID what the processor is sure not to have done',
      );
    }
    for (const id of found.first) missing.add(id);
    counts.set(name, known - found.wrong);
  }
  const strange = accepting.find((id) => !missing.has(id));
  if (strange !== undefined) throw new Error(`${strange} is nothing that is done here and not in the books`);
  return counts;
}

/** As many can be accepted; more are a sign of other books. */
const MOST_ACCEPTED = 100;
const MOST_NAMED = 10;

/** Number of operations done here, how many of them are not done in the processor's books, and the first of these. */
interface KnownCounts {
  readonly known: number;
  readonly wrong: number;
  readonly first: readonly string[];
}

/** Operations done here at a processor ($1), and read or stored between two times ($2, $3). $4 = only these. */
const KNOWN_THERE = `(
    select request_id, (answer_there is distinct from 'APPROVED' and not is_back)
      or (merchant_there, amount_there, currency_there, kind_there)
        is distinct from (merchant_id, amount, currency, kind) as is_wrong
    from matched
    where state = 'OK' and processor = $1 and (answer_there is not null or created_at between $2 and $3)
      and ($4::uuid[] is null or request_id = any ($4))
  ) known_here`;

const COUNT_KNOWN = `select count(*)::int as known, count(*) filter (where is_wrong)::int as wrong,
    coalesce((array_agg(request_id::text order by request_id) filter (where is_wrong))[:${MOST_ACCEPTED}], '{}') as first
  from ${KNOWN_THERE}`;

const FIND_WRONG = `select request_id as id from ${KNOWN_THERE} where is_wrong`;

/** More than the clocks of core and of a processor differ. */
const CLOCKS_DIFFER_MS = 60_000;

type Unconfirmed = Omit<Plan, 'answer'>;

/** Refuses decisions about identifiers that are not unknown here, and `all` of books that nothing shows to be ours. */
function refuseWrong(
  { importing, refunding, ours }: Decisions,
  unknown: readonly UnknownEntry[],
  known: ReadonlyMap<string, number>,
): void {
  const named = new Set(unknown.map(({ requestId }) => requestId));
  const strange = [...importing.filter((id) => id !== ALL), ...refunding].find((id) => !named.has(id));
  if (strange !== undefined) throw new Error(`${strange} is nothing that only a processor knows`);
  const twice = importing.find((id) => refunding.includes(id));
  if (twice !== undefined) throw new Error(`${twice} cannot be both imported and refunded`);
  const empty = unknown.find(({ processor }) => known.get(processor) === 0 && !ours.includes(processor));
  if (empty && importing.includes(ALL)) {
    throw new Error(
      `nothing of ours is in the books of the processor ${empty.processor}, so they may be another installation's: ` +
        `name each entry instead of all, read from an earlier time on, or say that they are by --ours ` +
        `${empty.processor}, as when it is in use only since what was lost`,
    );
  }
}

/**
 * Plans each entry, in a possible order. Captures and changes can be booked on a hold only, so their authorization is
 * imported, too, with its increments. A renewal is of what remained, so all that came before it is imported, too.
 */
function planOf(unknown: readonly UnknownEntry[], decisions: Decisions): Unconfirmed[] {
  const plans = withEarlier(unknown.map((entry) => ({ entry, verb: verbOf(entry, decisions) })));
  const lost = new Set(unknown.filter(isAuthorization).map(({ requestId }) => requestId));
  const isOfLost = ({ authorizationRequestId }: UnknownEntry) => lost.has(authorizationRequestId ?? '');
  const imported = plans.filter(({ entry, verb }) => verb === 'import' && (!isChange(entry) || isOfLost(entry)));
  const needed = new Set(imported.map(({ entry }) => entry.authorizationRequestId ?? entry.requestId));
  return plans.map((plan) => {
    const { entry } = plan;
    const isNeeded = isAuthorization(entry)
      ? needed.has(entry.requestId)
      : isChange(entry) && needed.has(entry.authorizationRequestId ?? '');
    return isNeeded ? { ...plan, verb: 'import' } : plan;
  });
}

/** Plans what comes before the renewals that imports are on. */
function withEarlier(plans: readonly Unconfirmed[]): readonly Unconfirmed[] {
  const last = new Map<string, number>();
  const chainOf = ({ processor, chain }: UnknownEntry) => `${processor}/${chain}`;
  for (const { entry, verb } of plans) {
    if (verb !== 'import') continue;
    last.set(chainOf(entry), Math.max(entry.generation, last.get(chainOf(entry)) ?? 0));
  }
  return plans.map((plan) => {
    const { kind, generation, isHere, isLate } = plan.entry;
    const reached = last.get(chainOf(plan.entry)) ?? 0;
    const isOfRenewal = kind === 'RENEWAL' || isLate;
    const comesBefore = generation < reached ? isOfRenewal || !isHere : isOfRenewal && generation === reached;
    return comesBefore ? { ...plan, verb: 'import' } : plan;
  });
}

function isAuthorization({ kind }: UnknownEntry): boolean {
  return kind === 'AUTHORIZATION';
}

function isChange({ kind }: UnknownEntry): boolean {
  return kind === 'INCREMENT' || kind === 'DECREASE' || kind === 'EXTENSION';
}

const ALL = 'all';

function verbOf(entry: UnknownEntry, { importing, refunding, to }: Decisions): Plan['verb'] {
  if (importing.includes(entry.requestId)) return 'import';
  if (refunding.includes(entry.requestId)) return 'refund';
  return importing.includes(ALL) && !(to && entry.actedAt >= to) ? 'import' : undefined;
}

const INQUIRIES_AT_ONCE = 128;

/**
 * Asks the processor about each entry that is to be changed: it must say the same as its books. What was open in them
 * may have ended since; what ended without being done is left out.
 */
async function confirmAll(sender: Sender, plans: readonly Unconfirmed[]): Promise<Plan[]> {
  const confirmed: Plan[] = [];
  for (let first = 0; first < plans.length; first += INQUIRIES_AT_ONCE) {
    const part = plans.slice(first, first + INQUIRIES_AT_ONCE);
    const answered = await Promise.all(part.map((plan) => confirm(sender, plan)));
    confirmed.push(...answered.filter((plan) => plan !== undefined));
  }
  return confirmed;
}

async function confirm(sender: Sender, plan: Unconfirmed): Promise<Plan | undefined> {
  const { entry, verb } = plan;
  if (verb === undefined || entry.isHere) return { ...plan, answer: { found: 'NO_ANSWER' } };
  const answer = await sender.processors.of(entry).inquire({ ...entry, processorAccount: entry.account });
  if (answer.found === 'NO_ANSWER')
    throw new Error(`the processor ${entry.processor} does not answer about ${entry.requestId}`);
  const said = answer.found === 'DONE' ? answer.outcome.answer : answer.found;
  const wasOpen = entry.answer !== 'APPROVED';
  if (wasOpen ? said === 'AT_WORK' : said === 'APPROVED') return { ...plan, answer };
  if (entry.answer === 'ACCEPTED' && said === 'APPROVED') return { ...plan, answer };
  if (wasOpen && (said === 'DECLINED' || said === 'NOT_PERFORMED')) return undefined;
  throw new Error(
    `the processor ${entry.processor} contradicts its books: ${entry.requestId} is ${entry.answer} there, and it ` +
      `answers ${said}`,
  );
}
