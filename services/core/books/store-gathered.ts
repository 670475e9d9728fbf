import assert from 'node:assert/strict';
import { AGAIN } from '../../../platform/gather.ts';
import { isOtherCurrency } from '../domain/hold-rules.ts';
import { authorizationOf } from '../domain/kept-hold.ts';
import { type KindOnHold, SUBMISSION_KINDS } from '../domain/kinds.ts';
import { leftOf } from '../domain/refund-rules.ts';
import { judgeNextRenewal } from '../domain/renewal-rules.ts';
import type { Database, Query } from '../storage/database.ts';
import { readRenewed } from '../storage/hold/find-renewed.ts';
import { type HoldInput, insertHolds, insertRenewals, type RenewalInput } from '../storage/hold/insert-holds.ts';
import { type KnownHold, readSubjects, type Subject } from '../storage/hold/read-holds.ts';
import { readSubmissions } from '../storage/submission/read-submissions.ts';
import {
  type Stored as StoredRow,
  type SubmissionInput,
  storeSubmissions,
} from '../storage/submission/store-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import type { SubmissionFacts } from './facts.ts';
import type { LastWritten } from './last-written.ts';
import { octInput } from './oct-books.ts';
import { RULES } from './rules.ts';
import { type HoldRequest, type Stored, type SubmissionRequest, sentInput, wordsOf } from './submission-request.ts';

/** A request that may be stored, and what it is on. */
interface Admitted extends Pick<SubmissionFacts, 'capture'> {
  readonly input: SubmissionInput;
  readonly hold?: KnownHold | undefined;
}

/**
 * Judges and stores requests, those on a hold each on another one: reads the holds, judges, and writes where a hold has
 * not changed since.
 */
export async function storeGathered(
  { query }: Database,
  lastWritten: LastWritten,
  requests: readonly SubmissionRequest[],
): Promise<(Stored | typeof AGAIN)[]> {
  const onHold = requests.filter((request) => request.kind !== 'OCT');
  const written = admitWritten(lastWritten, onHold);
  const toRead = onHold.filter((request) => !written.has(request));
  const subjects = await readSubjects(query, toRead);
  const captures = await readCaptures(query, toRead);
  const judged = requests.map((request): Stored | Admitted => {
    if (request.kind === 'OCT') return { input: octInput(request) };
    return written.get(request) ?? judge(request, subjects.get(request), captures);
  });
  const admitted = judged.flatMap((each) => ('input' in each ? each.input : []));
  const authorizations = await readAuthorizations(query, admitted);
  const stored = await storeSubmissions(query, admitted);
  return judged.map((each) => {
    if (!('input' in each)) return each;
    const { input, hold, capture } = each;
    const row = stored.get(input);
    if (!row) return AGAIN;
    const { outcome, processorRequestId, reserved, exceeded } = row;
    if (hold && outcome === 'STORED') lastWritten.keep({ ...hold, ...reserved }, input.requestId);
    const authorization = authorizations.get(input.authorizationId ?? '');
    const facts = outcome === 'STORED' ? { ...input, processorRequestId, hold, capture, authorization } : undefined;
    return { outcome, hold, facts, exceeded };
  });
}

/**
 * The requests that may be stored, by the holds that this process has written last. The others are judged on holds that
 * are read: a refusal is never told by a hold that may have changed since.
 */
function admitWritten(lastWritten: LastWritten, requests: readonly HoldRequest[]): ReadonlyMap<HoldRequest, Admitted> {
  const admitted = new Map<HoldRequest, Admitted>();
  for (const request of requests) {
    const hold = request.captureRequestId === undefined ? lastWritten.take(request) : undefined;
    const judged = hold && judge(request, { isKnown: false, hold }, new Map());
    if (judged && 'input' in judged) admitted.set(request, judged);
  }
  return admitted;
}

/** Stores the placing of holds. */
export async function storeGatheredHolds(
  { query }: Database,
  holds: readonly HoldInput[],
): Promise<(Stored | typeof AGAIN)[]> {
  const stored = await insertHolds(query, holds);
  return holds.map((hold) => placing(hold, stored.get(hold)));
}

function placing(hold: HoldInput, row: StoredRow | undefined): Stored | typeof AGAIN {
  if (!row) return AGAIN;
  const { outcome, processorRequestId, reserved } = row;
  const facts = { ...hold, kind: 'HOLD', processorRequestId, version: reserved.version } as const;
  return { outcome, facts: outcome === 'STORED' ? facts : undefined };
}

/**
 * Judges and stores the placing of holds that renew others, each of another one: a hold has one renewal at a time,
 * however many are asked for at once.
 */
export async function storeGatheredRenewals(
  { query }: Database,
  renewals: readonly Renewal[],
): Promise<(Stored | typeof AGAIN)[]> {
  const before = await readRenewed(query, renewals);
  const judged = renewals.map((renewal, place): Stored | RenewalInput => {
    const renewed = before[place];
    assert(renewed, 'the hold was read before it is renewed');
    if (renewed.isKnown) return { outcome: 'REPEATED' };
    const refusal = judgeNextRenewal(renewed, renewal.createdAt);
    return refusal ? { outcome: refusal } : { ...renewal, version: renewed.version };
  });
  const stored = await insertRenewals(
    query,
    judged.filter((each) => 'version' in each),
  );
  return judged.map((each) => ('version' in each ? placing(each, stored.get(each)) : each));
}

/** A hold that renews another one. */
export type Renewal = HoldInput & { readonly renews: string };

/**
 * The captures that refunds name, read after their holds: what changes one of them changes its hold, and then nothing
 * is written.
 */
async function readCaptures(query: Query, requests: readonly HoldRequest[]) {
  const names = requests.flatMap(({ captureRequestId }) => captureRequestId ?? []);
  const rows = names.length > 0 ? await readSubmissions(query, names) : [];
  return new Map(rows.filter(({ kind }) => kind === 'CAPTURE').map((row) => [row.requestId, row]));
}

/** The renewals whose authorizations submissions are on; none of them changes any more. */
async function readAuthorizations(query: Query, inputs: readonly SubmissionInput[]) {
  const names = inputs.flatMap(({ authorizationId }) => authorizationId ?? []);
  const rows = names.length > 0 ? await readSubmissions(query, names) : [];
  return new Map(rows.map((row) => [row.requestId, row]));
}

function judge(
  request: HoldRequest,
  subject: Subject | undefined,
  captures: ReadonlyMap<string, SubmissionRow>,
): Stored | Admitted {
  const hold = subject?.hold;
  const isOwn = request.merchantId === undefined || hold?.merchantId === request.merchantId;
  if (!hold || !isOwn) return { outcome: 'PREAUTHORIZATION_NOT_FOUND' };
  if (isOtherCurrency(hold, request.currency)) return { outcome: 'OTHER_CURRENCY', hold };
  if (subject.isKnown) return { outcome: 'REPEATED', hold };
  const { kind, authorization = authorizationOf(hold) } = request;
  // A renewal took over all that remained of the authorization before.
  if (ON_PRESENT.has(kind) && authorization !== authorizationOf(hold)) return { outcome: 'AMOUNT_EXCEEDS_HOLD', hold };
  const capture = captures.get(request.captureRequestId ?? '');
  const judgement = RULES[kind].judge(hold, request, capture);
  if (typeof judgement === 'string') {
    const left = capture?.state === 'OK' ? leftOf(hold, capture) : 0n;
    return { outcome: judgement, hold, left };
  }
  const { requestId: holdRequestId, merchantId, currency, processor, processorAccount, version } = hold;
  const input = {
    ...sentInput(request),
    ...wordsOf(request),
    reported: false,
    authorizationId: authorization === hold.requestId ? null : authorization,
    ...judgement,
    kind,
    reserves: SUBMISSION_KINDS[kind].reserves,
    captureRequestId: request.captureRequestId,
    holdRequestId,
    merchantId,
    currency,
    processor,
    processorAccount,
    version,
  };
  return { input, hold, capture };
}

/** The kinds that change what remains of a hold, and so are on its present authorization. */
const ON_PRESENT: ReadonlySet<KindOnHold> = new Set([
  'CAPTURE',
  'RELEASE',
  'PARTIAL_RELEASE',
  'EXPIRY',
  'INCREMENT',
  'EXTENSION',
]);
