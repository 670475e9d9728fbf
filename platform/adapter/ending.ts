import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type KeptResult, NO_RESULT } from './entry.ts';
import { plainText } from './plain-text.ts';

/** Done. */
export function approved<F extends Partial<KeptResult>>(fields: F = {} as F): KeptResult & F {
  const { reference = '', bankReference = '' } = fields;
  const references = { reference: cut(reference, 64), bankReference: cut(bankReference, 64) };
  return { ...NO_RESULT, ...fields, ...references, answer: Answer.APPROVED };
}

/** The issuer said no, to this card. */
export function declined(code: string, message: string, card: Partial<KeptResult> = {}): KeptResult {
  return { ...refused(Answer.DECLINED, code, message), ...card };
}

/** Not done. */
export function notPerformed(code: string, message: string): KeptResult {
  return refused(Answer.NOT_PERFORMED, code, message);
}

function refused(answer: Answer, code: string, message: string): KeptResult {
  return { ...NO_RESULT, answer, errorCode: cut(code, 64), errorMessage: cut(message, 500) };
}

/** A processor's own text, cut to the contract's length in characters, and without control characters. */
function cut(text: string, most: number): string {
  return [...plainText(text)].slice(0, most).join('');
}

/**
 * Why a processor turned a request away before it looked at its idempotency key, by the HTTP status; undefined for
 * other statuses. This request did nothing; of an earlier one under the same key that says nothing.
 */
export function turnedAway(processor: string, status: number | undefined): TurnedAway | undefined {
  switch (status) {
    case 401:
      return { code: 'key_rejected', message: `${processor} rejects the API key of this service.`, isPassing: false };
    case 403: {
      const message = 'The API key of this service may not do this, or not on this account.';
      return { code: 'not_permitted', message, isPassing: false };
    }
    case 429:
      return { code: 'rate_limited', message: `${processor} takes no more requests now.`, isPassing: true };
    default:
      return undefined;
  }
}

/** `isPassing`: it may be taken soon. */
interface TurnedAway {
  readonly code: string;
  readonly message: string;
  readonly isPassing: boolean;
}
