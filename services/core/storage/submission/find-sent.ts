import type { SentKind, SubmissionState } from '../../domain/kinds.ts';
import { type Query, readRow, type Statement } from '../database.ts';
import { ofBothTables } from './sent-tables.ts';

/** The fields of everything sent to a processor: the placing of a hold, and every submission. */
export interface Sent {
  readonly requestId: string;
  readonly kind: SentKind;
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
  /** Its kind in the processor's books: a name of EntryKind. */
  readonly entryKind: string;
  readonly createdAt: Date;
  /** The merchant's own, else the hold's. */
  readonly merchantReference: string | null;
  readonly metadata: Record<string, string> | null;
  readonly reason: string | null;
  /** The identifier and reference there of the authorization that it is on. */
  readonly authorizationRequestId: string | null;
  readonly authorizationReference: string | null;
}

/** Looks up an operation sent to a processor by its requestId. */
export function findSent(query: Query, requestId: string): Promise<Sent | undefined> {
  return readRow<Sent>(query, FIND_SENT, [requestId]);
}

/** Looks up an operation by its identifier at a processor. Another processor may use the same identifier. */
export function findSentAs(query: Query, identifier: string, processor: string): Promise<Sent | undefined> {
  return readRow<Sent>(query, FIND_SENT_AS, [identifier, processor]);
}

const FIND_SENT = sentWhere('find-sent', 's.request_id = $1');

const FIND_SENT_AS = sentWhere(
  'find-sent-as',
  '(s.processor_request_id = $1 or (s.request_id = $1 and s.processor_request_id is null)) and s.processor = $2',
);

function sentWhere(name: string, condition: string): Statement {
  const text = ofBothTables(
    (
      table,
      { kind, entry, state, holdRequestId, authorizationId, metadata, reason },
    ) => `select s.request_id, ${kind} as kind, ${entry} as entry_kind,
      ${state} as state, s.merchant_id, s.processor, s.processor_account, s.processor_request_id, s.amount, s.currency,
      s.created_at, ${holdRequestId} as hold_request_id,
      coalesce(s.merchant_reference, h.merchant_reference) as merchant_reference, ${metadata} as metadata,
      ${reason} as reason,
      coalesce(r.processor_request_id, r.request_id, h.processor_request_id, h.request_id) as authorization_request_id,
      case when r.request_id is null then h.processor_reference else r.processor_reference end as authorization_reference
    from ${table} s left join hold h on h.request_id = ${holdRequestId}
      left join submission r on r.request_id = ${authorizationId} where ${condition}`,
  );
  return { name, text };
}
