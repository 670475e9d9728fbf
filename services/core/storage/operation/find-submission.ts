import type { AskedKind, SubmissionState, SubmissionTable } from '../../domain/kinds.ts';
import { readRow } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import { unionOfSubmissions } from './submissions.ts';

/** What every submission has, whichever table it is in. */
export interface Submission {
  readonly table: SubmissionTable;
  readonly requestId: string;
  readonly kind: AskedKind;
  readonly state: SubmissionState;
  readonly merchantId: string;
  readonly processor: string;
  readonly processorAccount: string;
  /** Its identifier there; null = the requestId. */
  readonly processorRequestId: string | null;
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
  /** The hold that it belongs to; null for a hold itself, and for an OCT. */
  readonly holdRequestId: string | null;
  /** How the processor's books call its kind: a name of EntryKind. */
  readonly entryKind: string;
  /** Of a capture or release: the identifier of its authorization at the processor, and the processor's reference of it. */
  readonly authorizationRequestId: string | null;
  readonly authorizationReference: string | null;
  readonly createdAt: Date;
  /** It voids an authorization that arrived for a hold already failed: there is no operation of it. */
  readonly lateVoid: boolean;
}

/** Looks up a submission by its requestId, in all tables. */
export function findSubmission(query: Query, requestId: string): Promise<Submission | undefined> {
  return readRow<Submission>(query, FIND_SUBMISSION, [requestId]);
}

/**
 * Looks up a submission by its identifier at a processor, in all tables. `processors` are the names under which its rows are stored: two
 * processors may each have done something under the same identifier.
 */
export function findSentSubmission(
  query: Query,
  identifier: string,
  processors: readonly string[],
): Promise<Submission | undefined> {
  return readRow<Submission>(query, FIND_SENT, [identifier, processors]);
}

const FIND_SUBMISSION = submissionWhere('find-submission', 's.request_id = $1');

const FIND_SENT = submissionWhere(
  'find-sent-submission',
  `(s.processor_request_id = $1 or (s.request_id = $1 and s.processor_request_id is null)) and s.processor = any ($2::text[])`,
);

function submissionWhere(name: string, condition: string): Statement {
  const text = unionOfSubmissions(
    (
      table,
      { kind, state, holdRequestId, lateVoid, entry },
    ) => `select '${table}' as table, s.request_id, ${kind} as kind,
      ${state} as state, s.merchant_id, s.processor, s.processor_account, s.processor_request_id,
      s.amount, s.currency, ${holdRequestId} as hold_request_id, ${lateVoid} as late_void, '${entry}' as entry_kind, s.created_at,
      coalesce(a.processor_request_id, a.request_id) as authorization_request_id, a.processor_reference as authorization_reference
    from ${table} s left join hold a on a.request_id = ${holdRequestId} where ${condition}`,
  );
  return { name, text };
}
