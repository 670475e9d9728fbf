import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Ending } from '../ledger/entry.ts';

const NO_ENDING: Ending = {
  answer: Answer.UNSPECIFIED,
  reference: '',
  bankReference: '',
  errorCode: '',
  errorMessage: '',
  cardBrand: '',
  cardLast4: '',
  cardExpiryMonth: 0,
  cardExpiryYear: 0,
  generatedTokenId: '',
  expiresAt: null,
  expectedBy: null,
  actedAt: null,
  severalCaptures: false,
  increments: false,
  released: 0n,
};

/** Done. */
export function approved(at: Date, fields: Partial<Ending>): Ending {
  const cut = {
    reference: (fields.reference ?? '').slice(0, 64),
    bankReference: (fields.bankReference ?? '').slice(0, 64),
  };
  return { ...NO_ENDING, ...fields, ...cut, answer: Answer.APPROVED, actedAt: at };
}

/** Taken; the end follows by an event. */
export function accepted(at: Date, expectedBy: Date, reference: string): Ending {
  return { ...NO_ENDING, answer: Answer.ACCEPTED, reference, expectedBy, actedAt: at };
}

/** The issuer said no. */
export function declined(at: Date, code: string, message: string): Ending {
  return { ...NO_ENDING, answer: Answer.DECLINED, ...reason(code, message), actedAt: at };
}

/** Not done. */
export function notPerformed(at: Date, code: string, message: string): Ending {
  return { ...NO_ENDING, answer: Answer.NOT_PERFORMED, ...reason(code, message), actedAt: at };
}

function reason(code: string, message: string): Pick<Ending, 'errorCode' | 'errorMessage'> {
  return { errorCode: code.slice(0, 64), errorMessage: message.slice(0, 500) };
}
