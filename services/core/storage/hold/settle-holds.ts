import type { Capabilities } from '../../domain/hold-rules.ts';
import { type Query, sql } from '../database.ts';
import { APPEND_RESULTS, NOTIFIED } from '../operation/append-results.ts';
import { done, END_INPUT, type EndInput, type Settled, setCard, settleEach } from '../submission/settle-submissions.ts';
import { versionOf } from './hold-version.ts';
import { noticeAt } from './notice-at.ts';
import { renewAt } from './renew-at.ts';

/** The result of placing a hold. */
export interface HoldEnd extends EndInput {
  readonly expiresAt?: string | undefined;
  readonly guaranteedUntil?: string | undefined;
  readonly generatedTokenId?: string | undefined;
  readonly networkTransactionId?: string | undefined;
  readonly capabilities?: Capabilities | undefined;
  /** Its version as it was stored: the statement returns the new one when nothing else has changed it since. */
  readonly storedVersion?: string | undefined;
}

/** Ends the placing of holds. */
export function settleHolds(query: Query, ends: readonly HoldEnd[]): Promise<Settled> {
  return settleEach(query, SETTLE_HOLDS, ends);
}

const NOTICE_AT = noticeAt({
  guaranteedUntil: 'c."guaranteedUntil"',
  expiresAt: 'c."expiresAt"',
  releaseAt: 'h.release_at',
  hours: 'h.notify_expiring_hours',
});

const RENEW_AT = renewAt({
  keepUntil: 'h.keep_until',
  captureAt: 'h.capture_at',
  releaseAt: 'h.release_at',
  guaranteedUntil: 'c."guaranteedUntil"',
  expiresAt: 'c."expiresAt"',
  now: 'c.at',
});

/** One placed while its checkout is being cancelled stays closing until the processor has said which came first. */
export const SETTLE_HOLDS = sql('settle-holds')`with input as materialized (
    select * from json_to_recordset($1::json) as i(${END_INPUT},
      "expiresAt" timestamptz, "guaranteedUntil" timestamptz, "generatedTokenId" text,
      "networkTransactionId" text, capabilities jsonb, "storedVersion" text)
  ),
  locked as materialized (
    select i.*, ${versionOf('h')} = i."storedVersion" as untouched from input i join hold h on h.request_id = any (array[i."requestId"])
    for no key update of h skip locked
  ),
  changed as (
    update hold h set inquire_at = null, processor_reference = c."processorReference",
      processor_code = c."processorCode", processor_message = c."processorMessage",
      phase = case when c.ok then 'AUTHORIZED' else 'FAILED' end,
      status = case when c.ok then 'IN_PROGRESS' else 'FAILED' end,
      remaining = case when c.ok then h.amount else 0 end,
      placed_at = case when c.ok then c.at end,
      closed_at = case when c.ok then null else c.at end,
      expires_at = c."expiresAt", guaranteed_until = c."guaranteedUntil",
      first_guaranteed_until = c."guaranteedUntil", renew_at = ${RENEW_AT}, closing = h.closing and c.ok,
      ${setCard('c')},
      generated_token_id = c."generatedTokenId", network_transaction_id = c."networkTransactionId",
      capabilities = c.capabilities,
      notification_count = h.notification_count + ${NOTIFIED},
      notify_expiring_at = ${NOTICE_AT}
    from locked c
    where h.request_id = any (array[c."requestId"]) and h.phase not in ('AUTHORIZED', 'FAILED')
    returning h.request_id as subject_id, case when c.untouched then ${versionOf('h')} end as version,
      h.renew_at, h.notify_expiring_at, h.notification_count, h.notification_count as "holdSequence", c.*
  ),
  ${APPEND_RESULTS}
  ${done('version', 'renew_at', 'notify_expiring_at', 'notification_count')}`;
