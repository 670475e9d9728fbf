import { isOk } from '../domain/outcome.ts';
import type { SubmissionEnd } from '../storage/submission/settle-submissions.ts';
import type { SubmissionInput } from '../storage/submission/store-submissions.ts';
import { cardOf, type Ending, endInput, resultOf, type SettledFields, type Subject } from './operation-result.ts';
import { type OctRequest, sentInput, wordsOf } from './submission-request.ts';

/** The stored fields of an OCT. It has no hold, so nothing is judged. */
export function octInput(request: OctRequest): SubmissionInput {
  const { kind, merchantId, amount, currency, processor, processorAccount } = request;
  const { terminalId, userId, tokenId } = request;
  return {
    ...sentInput(request),
    ...wordsOf(request),
    kind,
    merchantId,
    amount,
    currency,
    processor,
    processorAccount,
    reported: false,
    terminalId,
    userId,
    tokenId,
  };
}

/** The effect of an outcome on an OCT. */
export function reckonOct(submission: SettledFields, ending: Ending): SubmissionEnd {
  const { requestId } = submission;
  const { outcome } = ending;
  return {
    ...endInput(requestId, ending),
    bankReference: isOk(outcome) ? outcome.bankReference : undefined,
    card: outcome.card,
    operation: resultOf(requestId, 'OCT', { ...subjectOfOct(submission), words: submission }, ending),
  };
}

/** The subject of an operation about an OCT. */
export function subjectOfOct(oct: OctFields): Subject {
  const { merchantId, amount, currency, terminalId, userId, merchantReference } = oct;
  return {
    merchantId,
    amount,
    currency,
    terminalId: terminalId ?? '',
    userId: userId ?? '',
    merchantReference,
    notifyHolds: true,
    after: undefined,
    card: cardOf(oct),
  };
}

type OctFields = Pick<SettledFields, 'merchantId' | 'amount' | 'currency' | 'terminalId' | 'userId'> &
  Pick<SettledFields, 'merchantReference'> &
  Parameters<typeof cardOf>[0];
