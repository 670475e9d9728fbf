import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { OperationKind } from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import { ReviewReason } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { findReviewItems, type ReviewRow } from '../../reports/review-items.ts';
import type { Method } from '../core.ts';
import { BY_REQUEST_ID, readPage } from '../pages.ts';
import { operationOf, presentFields } from '../present.ts';

/** Lists what waits for an operator, oldest first. */
export const listReviewItems: Method<'listReviewItems'> = async (core, request) => {
  const filters = {
    merchantId: request.merchantId || null,
    reason: request.reason === ReviewReason.UNSPECIFIED ? null : (ReviewReason[request.reason] as ReviewRow['reason']),
  };
  const now = core.clock();
  const { page, nextPageToken } = await readPage(request, filters, BY_REQUEST_ID, {
    read: (after, limit) => findReviewItems(core.reads.query, { ...filters, after: after ?? null, limit, now }),
    present: (row) => presentItem(row, now),
  });
  return { items: page, nextPageToken };
};

function presentItem(row: ReviewRow, now: Date) {
  return {
    ...presentFields(row, 'requestId', 'merchantId', 'amount', 'currency', 'holdRequestId', 'createdAt'),
    ...presentFields(row, 'inquiryCount', 'processor', 'processorRequestId'),
    lateVoid: row.kind === 'LATE_VOID',
    reason: ReviewReason[row.reason],
    kind: OperationKind[operationOf(row.kind) ?? 'RELEASE'],
    ageS: BigInt(Math.max(0, Math.floor((now.getTime() - row.createdAt.getTime()) / 1_000))),
    ...(row.inquireAt && { nextInquiryAt: timestampFromDate(row.inquireAt) }),
  };
}
