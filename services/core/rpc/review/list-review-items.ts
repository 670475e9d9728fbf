import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { OperationKind } from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import { ReviewReason } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { findReviewItems, type ReviewRow } from '../../reports/review-items.ts';
import type { Core, Method } from '../core.ts';
import { BY_REQUEST_ID, readPage } from '../pages.ts';
import { presentFields } from '../present.ts';

/** Lists what waits for an operator, oldest first. */
export const listReviewItems: Method<'listReviewItems'> = async (core, request) => {
  const filters = {
    merchantId: request.merchantId || null,
    reason: request.reason === ReviewReason.UNSPECIFIED ? null : (ReviewReason[request.reason] as ReviewRow['reason']),
  };
  const now = core.clock();
  const { page, nextPageToken } = await readPage(request, filters, BY_REQUEST_ID, {
    read: (after, limit) => findReviewItems(core.reads.query, { ...filters, after: after ?? null, limit, now }),
    present: (row) => presentItem(core, row, now),
  });
  return { items: page, nextPageToken };
};

function presentItem({ processors }: Core, row: ReviewRow, now: Date) {
  return {
    ...presentFields(row, 'requestId', 'merchantId', 'amount', 'currency', 'holdRequestId', 'createdAt'),
    ...presentFields(row, 'inquiryCount', 'lateVoid', 'processorRequestId'),
    reason: ReviewReason[row.reason],
    kind: OperationKind[row.kind],
    ageS: BigInt(Math.max(0, Math.floor((now.getTime() - row.createdAt.getTime()) / 1_000))),
    ...(row.inquireAt && { nextInquiryAt: timestampFromDate(row.inquireAt) }),
    processor: processors.nameOf(row.processor) ?? row.processor,
  };
}
