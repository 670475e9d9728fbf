/** What an answer says. */
import { type ServiceError, status } from '@grpc/grpc-js';
import { Answer, type Result } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';

/** An answer as a word: APPROVED, ACCEPTED, or what was refused with its code. */
export function told({ answer, errorCode }: Result): string {
  return errorCode === '' ? (Answer[answer] ?? String(answer)) : `${Answer[answer]} ${errorCode}`;
}

/** Codes of a void by which core knows that nothing is left to give back. */
export const NOTHING_LEFT = [
  'authorization_expired',
  'authorization_not_found',
  'authorization_not_approved',
  'authorization_voided',
  'authorization_closed',
];

/** The status that may stand for `fenced`. */
export const FENCED = status.FAILED_PRECONDITION;

/** Swallows the status that says that an identifier was fenced. */
export function fencedStatus(error: ServiceError): undefined {
  if (error.code !== FENCED) throw error;
}

/** Whether nothing was done; undefined = a status said so. */
export function isRefusal(result: Result | undefined): boolean {
  return result === undefined || result.answer === Answer.NOT_PERFORMED;
}
