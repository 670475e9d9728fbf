import { AGAIN } from '../../../platform/gather.ts';
import type { Database } from '../storage/database.ts';
import { type ReadHold, readSubjects } from '../storage/hold/read-holds.ts';
import { type SubmissionInput, storeSubmissions } from '../storage/submission/store-submissions.ts';
import { JUDGE } from './judge.ts';
import { type HoldRequest, type OctRequest, type Stored, type SubmissionRequest, sentInput } from './request.ts';

/** A request that may be stored. */
interface Admitted {
  readonly input: SubmissionInput;
  readonly hold?: ReadHold | undefined;
}

/** Judges and stores requests, those on a hold each on another one: reads the holds, judges, and writes where a hold has not changed since. */
export async function storeGathered(
  { query }: Database,
  requests: readonly SubmissionRequest[],
): Promise<(Stored | typeof AGAIN)[]> {
  const onHold = requests.filter((request): request is HoldRequest => request.kind !== 'OCT');
  const read = onHold.length > 0 ? await readSubjects(query, onHold) : [];
  const subjects = new Map(onHold.map((request, index) => [request, read[index]]));
  const judged = requests.map((request) =>
    request.kind === 'OCT' ? { input: octInput(request) } : judge(request, subjects.get(request)),
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

function judge(
  request: HoldRequest,
  subject: { readonly isKnown: boolean; readonly hold: ReadHold | undefined } | undefined,
): Stored | Admitted {
  const hold = subject?.hold;
  const isOwn = request.merchantId === undefined || hold?.merchantId === request.merchantId;
  if (!hold || !isOwn) return { outcome: 'PREAUTHORIZATION_NOT_FOUND', processorRequestId: null };
  if (subject.isKnown) return { outcome: 'REPEATED', processorRequestId: null, hold };
  const judgement = JUDGE[request.kind](hold, request);
  if (typeof judgement === 'string') return { outcome: judgement, processorRequestId: null, hold };
  const { requestId: holdRequestId, merchantId, currency, processor, processorAccount, version } = hold;
  const input = {
    ...sentInput(request),
    ...judgement,
    kind: request.kind,
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
