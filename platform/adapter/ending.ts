import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type KeptResult, NO_RESULT } from './entry.ts';

/** Done. References are cut to the contract's length. */
export function approved<F extends Partial<KeptResult>>(fields: F = {} as F): KeptResult & F {
  const { reference = '', bankReference = '' } = fields;
  const cut = { reference: reference.slice(0, 64), bankReference: bankReference.slice(0, 64) };
  return { ...NO_RESULT, ...fields, ...cut, answer: Answer.APPROVED };
}

/** The issuer said no, to this card. */
export function declined(code: string, message: string, card: Partial<KeptResult> = {}): KeptResult {
  return { ...refused(Answer.DECLINED, code, message), ...card };
}

/** Not done. */
export function notPerformed(code: string, message: string): KeptResult {
  return refused(Answer.NOT_PERFORMED, code, message);
}

/** The processor's own texts are cut to the contract's length, and lose control characters. */
function refused(answer: Answer, code: string, message: string): KeptResult {
  return {
    ...NO_RESULT,
    answer,
    errorCode: code.slice(0, 64),
    errorMessage: message.replace(/\p{Cc}+/gu, ' ').slice(0, 500),
  };
}
