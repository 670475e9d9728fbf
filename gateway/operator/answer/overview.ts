import { OperationKind } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import {
  type AuditEntry,
  type GetOverviewResponse,
  type Minute,
  type ReviewItem,
  ReviewReason,
} from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { money, some, time } from '../../rest/answer/words.ts';

/** What may need attention. */
export function overviewJson({ $typeName: _, ...overview }: GetOverviewResponse) {
  return {
    ...overview,
    oldestUnknownAt: time(overview.oldestUnknownAt),
    oldestDueAt: time(overview.oldestDueAt),
    at: time(overview.at),
  };
}

/** What happened in one minute. */
export function minuteJson({ $typeName: _, start, ...counts }: Minute) {
  return { start: time(start), ...counts };
}

/** Something that waits for an operator. */
export function reviewJson(item: ReviewItem) {
  return {
    requestId: item.requestId,
    reason: ReviewReason[item.reason],
    operation: OperationKind[item.kind],
    merchantId: item.merchantId,
    amount: money(item.amount),
    currency: item.currency,
    holdRequestId: some(item.holdRequestId),
    createdAt: time(item.createdAt),
    ageSeconds: Number(item.ageS),
    inquiryCount: item.inquiryCount,
    nextInquiryAt: time(item.nextInquiryAt),
    lateVoid: item.lateVoid,
  };
}

/** What an operator did. */
export function auditEntryJson(entry: AuditEntry) {
  return {
    auditEntryId: entry.auditEntryId,
    at: time(entry.at),
    actor: entry.actor,
    action: entry.action,
    target: entry.target,
    detail: entry.detail === '' ? undefined : JSON.parse(entry.detail),
  };
}
