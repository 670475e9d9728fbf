import { AGAIN } from '../../../platform/gather.ts';
import { SUBMISSION_KINDS } from '../domain/kinds.ts';
import { leftOf } from '../domain/refund.ts';
import type { Database, Query } from '../storage/database.ts';
import { type ReadHold, readSubjects } from '../storage/hold/read-holds.ts';
import { readSubmissions } from '../storage/submission/read-submissions.ts';
import { type SubmissionInput, storeSubmissions } from '../storage/submission/store-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import { JUDGE } from './judge.ts';
import { type HoldRequest, type OctRequest, type Stored, type SubmissionRequest, sentInput } from './request.ts';

/** A request that may be stored. */
interface Admitted {
  readonly input: SubmissionInput;
  readonly hold?: ReadHold | undefined;
}

/**
 * Judges and stores requests, those on a hold each on another one: reads the holds, judges, and writes where a hold has
 * not changed since.
 */
export async function storeGathered(
  { query }: Database,
  requests: readonly SubmissionRequest[],
): Promise<(Stored | typeof AGAIN)[]> {
  const onHold = requests.filter((request): request is HoldRequest => request.kind !== 'OCT');
  const read = onHold.length > 0 ? await readSubjects(query, onHold) : [];
  const subjects = new Map(onHold.map((request, index) => [request, read[index]]));
  const captures = await readCaptures(query, onHold);
  const judged = requests.map((request) =>
    request.kind === 'OCT' ? { input: octInput(request) } : judge(request, subjects.get(request), captures),
  );
  const admitted = judged.filter((each): each is Admitted => 'input' in each);
  const rows =
    admitted.length > 0
      ? await storeSubmissions(
          query,
          admitted.map(({ input }) => input),
        )
      : [];
  const stored = new Map(admitted.map((each, index) => [each, rows[index] ?? AGAIN]));
  return judged.map((each) => {
    if (!('input' in each)) return each;
    const row = stored.get(each) ?? AGAIN;
    return row === AGAIN ? AGAIN : { ...row, hold: each.hold, amount: BigInt(each.input.amount) };
  });
}

/**
 * The captures that refunds name, read after their holds: what changes one of them changes its hold, and then nothing
 * is written.
 */
async function readCaptures(
  query: Query,
  requests: readonly HoldRequest[],
): Promise<ReadonlyMap<string, SubmissionRow>> {
  const names = requests.flatMap(({ captureRequestId }) => captureRequestId ?? []);
  const rows = names.length > 0 ? await readSubmissions(query, names) : [];
  return new Map(rows.filter(({ kind }) => kind === 'CAPTURE').map((row) => [row.requestId, row]));
}

function judge(
  request: HoldRequest,
  subject: { readonly isKnown: boolean; readonly hold: ReadHold | undefined } | undefined,
  captures: ReadonlyMap<string, SubmissionRow>,
): Stored | Admitted {
  const hold = subject?.hold;
  const isOwn = request.merchantId === undefined || hold?.merchantId === request.merchantId;
  if (!hold || !isOwn) return { outcome: 'PREAUTHORIZATION_NOT_FOUND', processorRequestId: null };
  if (subject.isKnown) return { outcome: 'REPEATED', processorRequestId: null, hold };
  const capture = captures.get(request.captureRequestId ?? '');
  const judgement = JUDGE[request.kind](hold, request, capture);
  if (typeof judgement === 'string') {
    const left = capture?.state === 'OK' ? leftOf(hold, capture) : 0n;
    return { outcome: judgement, processorRequestId: null, hold, left };
  }
  const { requestId: holdRequestId, merchantId, currency, processor, processorAccount, version } = hold;
  const input = {
    ...sentInput(request),
    ...judgement,
    kind: request.kind,
    reserves: SUBMISSION_KINDS[request.kind].reserves,
    captureRequestId: request.captureRequestId,
    holdRequestId,
    merchantId,
    currency,
    processor,
    processorAccount,
    version,
    amount: judgement.amount.toString(),
  };
  return { input, hold };
}

function octInput(request: OctRequest): SubmissionInput {
  const { kind, merchantId, amount, currency, processor, processorAccount } = request;
  const { terminalId, userId, tokenId, merchantReference } = request;
  return {
    ...sentInput(request),
    kind,
    reserves: SUBMISSION_KINDS[kind].reserves,
    merchantId,
    amount: amount.toString(),
    currency,
    processor,
    processorAccount,
    terminalId,
    userId,
    tokenId,
    merchantReference,
  };
}
