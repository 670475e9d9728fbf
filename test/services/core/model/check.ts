/** Invariants that must hold when everything has settled: docs/product.md, "Books", row by row. */

import { stagesOf } from '../../../../services/sandbox/behaviour.ts';
import type { Entry } from '../../../../services/sandbox/ledger/entry.ts';
import { storedKey } from '../stored-key.ts';
import { type Attempt, toldOf } from './attempt.ts';
import { booksOf, type HoldModel } from './hold-model.ts';
import { renewalsOf, type Subject } from './subject.ts';
import { saidBy } from './words.ts';
import { MERCHANTS, type World } from './world.ts';

interface Operation {
  readonly requestId: string;
  readonly holdRequestId: string | null;
  readonly kind: string;
  readonly status: string;
  readonly amount: bigint;
  readonly sequence: bigint;
  readonly deliveries: number;
}

/** Checks the holds and OCTs of a wave. */
export async function checkSubjects(world: World, subjects: readonly Subject[]): Promise<void> {
  const ids = subjects.map(({ requestId }) => requestId);
  const rows = new Map((await world.sql<Row>(ROWS, [ids])).map((row) => [row.requestId, row]));
  const operations = await world.sql<Operation>(OPERATIONS, [ids]);
  const attempts = await world.sql<Kept>(ATTEMPTS, [ids]);
  for (const subject of subjects) {
    const own = operations.filter(
      ({ requestId, holdRequestId }) => subject.requestId === requestId || subject.requestId === holdRequestId,
    );
    const kept = new Map(attempts.map((attempt) => [attempt.key, attempt]));
    const renewals = subject.possible.some(({ chain }) => chain.length > 1) ? await renewalsOf(world, subject) : [];
    const why = subject.possible.map((hold) =>
      differences(world, subject, hold, rows.get(subject.requestId), own, kept, renewals),
    );
    if (!why.some((reasons) => reasons.length === 0))
      subject.fail(why.map((reasons) => reasons.join('; ')).join('\n or '));
  }
}

/** What is stored under a key, and its result. */
interface Kept {
  readonly key: string;
  readonly kind: string;
  readonly state: string;
  readonly words: KeptWords;
  readonly isTold: boolean;
  readonly told: KeptWords;
}

/** What was said of it is kept with it, and with its result. */
function demandWords(
  same: (what: string, actual: unknown, expected: unknown) => void,
  { sent }: Subject,
  key: string,
  kept: Kept | undefined,
): void {
  const {
    merchantReference = null,
    metadata = null,
    reason = null,
  } = saidBy(sent.find((each) => each.key === key) ?? { key });
  const said = JSON.stringify([merchantReference, metadata && sorted(metadata), reason]);
  same(`words of ${key}`, wordsOf(kept?.words), said);
  if (kept?.isTold) same(`words of the result of ${key}`, wordsOf(kept.told), said);
}

type KeptWords = readonly [string | null, Readonly<Record<string, string>> | null, string | null];

function wordsOf([reference, metadata, reason]: KeptWords = [null, null, null]): string {
  return JSON.stringify([reference, metadata && sorted(metadata), reason]);
}

const sorted = (metadata: Readonly<Record<string, string>>) => Object.entries(metadata).sort();

interface Row {
  readonly requestId: string;
  readonly books: string;
  readonly reversed: bigint;
  readonly refunded: bigint;
  readonly frozen: boolean;
  readonly open: boolean;
  readonly times: string;
}

function differences(
  world: World,
  subject: Subject,
  hold: HoldModel,
  row: Row | undefined,
  operations: readonly Operation[],
  attempts: ReadonlyMap<string, Kept>,
  renewals: readonly string[],
): string[] {
  const found: string[] = [];
  const same = (what: string, actual: unknown, expected: unknown) => {
    if (String(actual) !== String(expected)) found.push(`${what} is ${actual}, not ${expected}`);
  };
  const { captured, inFlight, remaining, released, left, status } = booksOf(hold);
  const books = hold.kind === 'OCT' ? hold.placing : `${captured}/${inFlight}/${remaining}/${released} ${status}`;
  same('books', row?.books, books);
  same('frozen', row?.frozen, hold.frozen);
  same('open', row?.open, false);
  if (hold.kind === 'HOLD') same('times', row?.times, `${hold.captureAt}/${hold.releaseAt}/${hold.keepUntil}`);
  same('reversed', row?.reversed, reversedOf(hold));
  same('refunded', row?.refunded, refundedIn(hold));
  if (hold.kind === 'OCT') demandWords(same, subject, hold.key, attempts.get(storedKey(subject.merchantId, hold.key)));
  for (const { key, state } of hold.attempts.filter(({ key }) => key !== '')) {
    const kept = attempts.get(storedKey(subject.merchantId, key));
    same(`state of ${key}`, kept?.state, state);
    demandWords(same, subject, key, kept);
  }
  const [wanted, deliveries] = operationsOf(hold);
  same('operations', operations.map(({ kind, status: s }) => `${kind} ${s}`).sort(), wanted.sort());
  same(
    'deliveries',
    operations.reduce((sum, operation) => sum + operation.deliveries, 0),
    deliveries,
  );
  const given = operations.filter(({ kind, status: s }) => kind === 'EXPIRY' || (kind === 'RELEASE' && s === 'OK'));
  if (hold.closedBy === 'RELEASED' || hold.closedBy === 'EXPIRED') {
    same(
      'given back',
      given.reduce((sum, { amount }) => sum + amount, 0n),
      left,
    );
  }
  const oracle = world.oracleOf(subject);
  const entries = [subject.identifier, ...renewals].map((identifier) => oracle.find(identifier));
  same('authorizations', entries.length, hold.chain.length);
  found.push(...processorDifferences(hold, entries));
  return found;
}

/** Compares our books with the processor's, and the processor's with the model's. */
function processorDifferences(hold: HoldModel, entries: readonly (Entry | undefined)[]): string[] {
  const found: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const [charged, voided, refunded] = [entry?.captured ?? 0, entry?.voided ?? 0, entry?.refunded ?? 0];
    const modelled = hold.chain[index];
    if (charged !== modelled?.charged || voided !== modelled.voided) {
      found.push(`authorization ${index} has ${charged}/${voided}, not ${modelled?.charged}/${modelled?.voided}`);
    }
    if (hold.kind === 'OCT') return found;
    const booked = refundedIn(hold, index);
    if (refunded !== booked) found.push(`the processor refunded ${refunded} of ${index}, we booked ${booked}`);
    const reserved = entry?.answer === 1 ? entry.amount + entry.incremented - charged - voided : 0;
    if (reserved !== 0) found.push(`${reserved} of authorization ${index} stay reserved at the processor`);
  }
  const { captured, released } = booksOf(hold);
  const charged = sumOf(entries, (entry) => entry.captured);
  if (charged !== captured) found.push(`the processor charged ${charged}, we booked ${captured}`);
  // What a renewal reserved anew was given back on the authorization before, or on its own.
  const anew = sumOf(entries.slice(1), (entry) => (entry.answer === 1 ? entry.amount : 0));
  const voided = sumOf(entries, (entry) => entry.voided) - anew;
  if (entries[0]?.answer === 1 && hold.placing === 'OK' && voided !== released) {
    found.push(`the processor gave back ${voided}, we booked ${released}`);
  }
  return found;
}

function sumOf(entries: readonly (Entry | undefined)[], amountOf: (entry: Entry) => number): number {
  return entries.reduce((sum, entry) => sum + (entry ? amountOf(entry) : 0), 0);
}

/** Returns what the card scheme has reversed and not reinstated in the end. */
function reversedOf(hold: HoldModel): number {
  return reversalsOf(hold).reduce((sum, change) => sum + change, 0);
}

/** Returns what the card scheme reverses of the captures, stage by stage; negative = reinstated. */
function reversalsOf(hold: HoldModel): number[] {
  return capturesOf(hold).flatMap(({ amount }) => {
    let reversed = 0;
    const changes = stagesOf(hold.token, 'capture').map(({ half, reinstates }) => {
      const left = amount - reversed;
      const change = reinstates ? -reversed : half ? Math.min(left, Math.max(1, Math.floor(amount / 2))) : left;
      reversed += change;
      return change;
    });
    return changes.filter((change) => change !== 0);
  });
}

/** What was refunded, on one authorization or in all, and did not come back; of an OCT what came back. */
function refundedIn(hold: HoldModel, authorization?: number): number {
  if (hold.kind === 'OCT') return hold.returned;
  const isOn = ({ on }: Attempt) => authorization === undefined || on === authorization;
  const done = hold.attempts.filter((attempt) => attempt.kind === 'REFUND' && attempt.state === 'OK' && isOn(attempt));
  return done.reduce((sum, { amount, returned }) => sum + amount - returned, 0);
}

function capturesOf(hold: HoldModel) {
  return hold.attempts.filter(({ kind, state }) => kind === 'CAPTURE' && state === 'OK');
}

/** Merchants hear nothing of a renewal that never arrived, or was overtaken. */
function isUntold({ state, answer }: Attempt): boolean {
  return state === 'KO' && (answer?.code === 'never_received' || answer?.code === 'overtaken');
}

/** Each final attempt has one operation; which of them are notified depends on the contract. */
function operationsOf(hold: HoldModel): [string[], number] {
  const placing = `${hold.kind} ${toldOf(hold.placing, hold.corrections)}`;
  const attempts = hold.attempts.flatMap((attempt) => {
    const { kind, amount } = attempt;
    const state = toldOf(attempt.state, attempt.corrections);
    if (kind === 'CAPTURE' || kind === 'REFUND') return [`${kind} ${state}`];
    if (kind === 'INCREMENT' || kind === 'EXTENSION') return [`${kind} ${state}`];
    if (kind === 'RENEWAL') return isUntold(attempt) ? [] : [`RENEWAL ${state}`];
    if (kind === 'PART') return [`PARTIAL_RELEASE ${state}`];
    if (kind === 'RELEASED') return amount > 0 || state === 'KO' || hold.placing === 'OK' ? [`RELEASE ${state}`] : [];
    return kind === 'EXPIRED' && state === 'OK' && hold.placing === 'OK' ? ['EXPIRY KO'] : [];
  });
  const reversals = reversalsOf(hold).map((change) => (change > 0 ? 'REVERSAL KO' : 'REINSTATEMENT OK'));
  const later = [hold, ...hold.attempts].flatMap(({ kind, returns, corrections }) => [
    ...Array<string>(returns).fill(`${kind}_RETURN KO`),
    ...corrections.map((outcome) => `CORRECTION ${outcome}`),
  ]);
  const all = [placing, ...attempts, ...reversals, ...later];
  const merchant = MERCHANTS[hold.merchant];
  const told = all.filter(
    (operation) =>
      merchant?.notifyHolds || /^(CAPTURE|REFUND|RENEWAL|REVERSAL|REINSTATEMENT|CORRECTION|OCT)/.test(operation),
  );
  return [all, merchant?.url === '' ? 0 : told.length];
}

/** SQL: a time in milliseconds; null = 0. */
export const ms = (time: string) => `coalesce(extract(epoch from ${time}) * 1000, 0)::bigint`;

const ROWS = `select request_id, captured || '/' || in_flight || '/' || remaining || '/' || released || ' ' || status
  as books,
    reversed, refunded + refunding as refunded, frozen,
    closing or changing is not null or phase not in ('AUTHORIZED', 'FAILED') as open,
    ${ms('capture_at')} || '/' || ${ms('release_at')} || '/' || ${ms('keep_until')} as times
  from hold where request_id = any($1::uuid[])
  union all select request_id, state, 0, amount_returned, false, state not in ('OK', 'KO'), '' from submission where kind = 'OCT' and
  request_id = any($1::uuid[])`;

const OPERATIONS = `select request_id, coalesce(hold_request_id, oct_request_id, corrects_request_id) as hold_request_id, kind, status,
    amount, sequence,
    (select count(*) from delivery d where d.request_id = o.request_id::text)::int as deliveries
  from operation o where request_id = any($1::uuid[]) or hold_request_id = any($1::uuid[])
    or coalesce(oct_request_id, case when hold_request_id is null then corrects_request_id end) = any($1::uuid[])`;

const ATTEMPTS = `select k.key, s.kind, s.state,
    json_build_array(s.merchant_reference, s.metadata, s.reason) as words, o.request_id is not null as is_told,
    json_build_array(o.merchant_reference, o.metadata, o.reason) as told
  from claim k join submission s on s.request_id = k.request_id left join operation o on o.request_id = s.request_id
  where s.hold_request_id = any($1::uuid[]) or s.request_id = any($1::uuid[])`;
