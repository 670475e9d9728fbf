/**
 * The same identifier, the same answer: what the earlier use of an identifier means for a request and for an inquiry.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Answer, Finding, type InquireResponseSchema } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { notPerformed } from './ending.ts';
import type { Kind, ResultInit } from './entry.ts';

/** The form of Holdfast's identifiers. What others write where an adapter writes them may be anything. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What was asked under an identifier, as an adapter keeps it. */
interface Asked {
  readonly kind: Kind;
  readonly merchantId: string;
  /** Empty = not said. */
  readonly account: string;
}

/**
 * Kept with the first request, and may differ in a repetition: what core notes for itself, and what is shown to the
 * customer.
 */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  'operationRequestId',
  'merchantReference',
  'description',
  'customerPresent',
  'merchantReason',
  'networkTransactionId',
  'expectedCaptureAt',
  'memo',
  'merchantName',
  'returnUrl',
]);

/** These leave no trace: they are decided anew each time. */
const FENCED = notPerformed('fenced', 'This identifier was inquired about before it arrived.');
const REUSED = notPerformed('identifier_reused', 'This identifier was used for something else.');

/**
 * Why a known identifier cannot be used for a request; undefined when the request asks what was asked before, and gets
 * its answer.
 */
export function reuseRefusal<T extends Asked>(known: Asked, asked: T): ResultInit | undefined {
  if (known.kind === 'fence') return FENCED;
  return asksTheSame(known, asked) ? undefined : REUSED;
}

/** The entry of an identifier that asks the same, `fresh` when it is new; or why the identifier cannot be used. */
export type Recalled<Entry> =
  | { readonly entry: Entry; readonly fresh: boolean; readonly refused?: undefined }
  | { readonly entry?: undefined; readonly fresh?: false; readonly refused: ResultInit };

/** Whether every field of `asked` is as it was, but for those that may differ. */
export function asksTheSame<T extends Asked>(known: Asked, asked: T): boolean {
  const kept = known as T;
  return (Object.keys(asked) as (keyof T & string)[]).every((name) => {
    if (NOT_COMPARED.has(name) || kept[name] === asked[name]) return true;
    return asked[name] === '' && mayBeUnsaid(asked.kind, name);
  });
}

/** Core did not always say the account, nor whose hold it voids. */
function mayBeUnsaid(kind: Kind, name: string): boolean {
  return name === 'account' || (name === 'merchantId' && kind === 'void');
}

/** An answer to an inquiry. */
export type InquiryReply = MessageInitShape<typeof InquireResponseSchema>;

/** Returns what an inquiry says of an entry: fenced, ended, or at work. */
export function findingOf({ requestId, kind, answer }: Found, result: ResultInit): InquiryReply {
  if (kind === 'fence') return { requestId, finding: Finding.NEVER_SEEN, fenced: true };
  if (answer === Answer.UNSPECIFIED) return { requestId, finding: Finding.AT_WORK };
  return { requestId, finding: answer === Answer.ACCEPTED ? Finding.AT_WORK : Finding.DONE, result };
}

interface Found {
  readonly requestId: string;
  readonly kind: Kind;
  readonly answer: Answer;
}
