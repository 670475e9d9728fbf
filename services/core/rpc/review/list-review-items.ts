import { ListReviewItemsRequestSchema, ReviewItemSchema } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { findReviewItems, type ReviewFilter, type ReviewRow } from '../../reports/review-items.ts';
import type { Method } from '../core.ts';
import { BY_REQUEST_ID, filtersOf, readPage } from '../pages.ts';
import { operationOf, present } from '../present.ts';

/** Lists what waits for an operator, oldest first. */
export const listReviewItems: Method<'listReviewItems'> = async (core, request) => {
  const filters = filtersOf<ReviewFilter>(ListReviewItemsRequestSchema, request);
  const now = core.clock();
  const { page, nextPageToken } = await readPage(request, filters, BY_REQUEST_ID, {
    read: (after, limit) => findReviewItems(core.reads.query, filters, { after, limit, now }),
    present: (row) => presentItem(row, now),
  });
  return { items: page, nextPageToken };
};

function presentItem(row: ReviewRow, now: Date) {
  return present(ReviewItemSchema, row, {
    lateVoid: row.kind === 'LATE_VOID',
    kind: operationOf(row.kind) ?? 'RELEASE',
    ageS: BigInt(Math.max(0, Math.floor((now.getTime() - row.createdAt.getTime()) / 1_000))),
    nextInquiryAt: row.inquireAt,
  });
}
