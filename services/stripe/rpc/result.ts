import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Answer, type ResultSchema } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry } from '../ledger/entry.ts';

/** A result as the contract carries it. */
export type ResultInit = MessageInitShape<typeof ResultSchema>;

/** A refusal that leaves no trace, for identifiers that cannot be used (again). */
export function refusal(errorCode: string, errorMessage: string): ResultInit {
  return { answer: Answer.NOT_PERFORMED, errorCode, errorMessage };
}

/** The contract's form of how an entry ended. */
export function resultOf(entry: Entry): ResultInit {
  const { kind, expiresAt, expectedBy, actedAt } = entry;
  const isApproved = entry.answer === Answer.APPROVED;
  const isAuthorization = kind === 'authorization' || kind === 'checkout';
  return {
    answer: entry.answer,
    reference: entry.reference,
    bankReference: entry.bankReference,
    errorCode: entry.errorCode,
    errorMessage: entry.errorMessage,
    generatedTokenId: entry.generatedTokenId,
    ...(actedAt && { actedAt: timestampFromDate(actedAt) }),
    ...(expiresAt && isApproved && { expiresAt: timestampFromDate(expiresAt) }),
    ...(expectedBy && entry.answer === Answer.ACCEPTED && { expectedBy: timestampFromDate(expectedBy) }),
    ...(/^[0-9]{4}$/.test(entry.cardLast4) && {
      card: {
        brand: entry.cardBrand,
        last4: entry.cardLast4,
        expiryMonth: entry.cardExpiryMonth,
        expiryYear: entry.cardExpiryYear,
      },
    }),
    ...(isApproved && (isAuthorization || kind === 'increment') && { capabilities: capabilitiesOf(entry) }),
    ...(isApproved && (kind === 'capture' || kind === 'void') && { amountReleased: entry.released }),
  };
}

function capabilitiesOf({ severalCaptures, increments }: Entry) {
  return { severalCaptures, increments, extension: false, refunds: true };
}
