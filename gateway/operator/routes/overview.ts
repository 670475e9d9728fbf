import { z } from 'zod';
import { READ, WRITE } from '../../codes.ts';
import { requestId } from '../../rest/schema/answer-fields.ts';
import { lastEventId } from '../../rest/schema/headers.ts';
import { Oct } from '../../rest/schema/oct.ts';
import { Operation, OperationPage } from '../../rest/schema/operation.ts';
import type { Route } from '../../route.ts';
import { ListOperatorOperationsQuery, WatchOperatorOperationsQuery } from '../schema/operation.ts';
import { AuditPage, ListAuditQuery, Minutes, Overview, SeriesQuery } from '../schema/overview.ts';
import { ListReviewsQuery, ResolveBody, Resolved, ReviewPage } from '../schema/review.ts';

const common = { tag: 'Operators: overview', credential: 'operator' } as const;

/** What goes on across merchants, what waits for a decision, and what operators did. */
export const OVERVIEW_ROUTES = {
  getOverview: {
    ...common,
    method: 'get',
    path: '/operator/overview',
    summary: 'Count what may need attention',
    answers: { 200: { description: 'The counts', schema: Overview } },
    codes: READ,
  },
  listMinutes: {
    ...common,
    method: 'get',
    path: '/operator/overview/series',
    summary: 'Count by minute: operations OK and KO, deliveries, notifications verified and refused',
    query: SeriesQuery,
    answers: { 200: { description: 'The minutes', schema: Minutes } },
    codes: READ,
  },
  listOperatorOperations: {
    ...common,
    method: 'get',
    path: '/operator/operations',
    summary: 'List final results, newest first',
    query: ListOperatorOperationsQuery,
    answers: { 200: { description: 'A page', schema: OperationPage } },
    codes: READ,
  },
  watchOperatorOperations: {
    ...common,
    method: 'get',
    path: '/operator/operations/stream',
    summary: 'Follow results as they are committed, of one merchant or all',
    description: 'Server-Sent Events as for merchants: `event: operation`, `id:` the token to resume from.',
    query: WatchOperatorOperationsQuery,
    headers: { 'Last-Event-ID': lastEventId.optional() },
    answers: { 200: { description: 'The stream', schema: z.string(), mediaType: 'text/event-stream' } },
    codes: [...READ, 'STREAM_TOKEN_TOO_OLD'],
  },
  getOperatorOperation: {
    ...common,
    method: 'get',
    path: '/operator/operations/{requestId}',
    summary: 'Look up an operation, final or not',
    parameters: { requestId },
    answers: { 200: { description: 'The operation', schema: Operation } },
    codes: [...READ, 'OPERATION_NOT_FOUND'],
  },
  getOperatorOct: {
    ...common,
    method: 'get',
    path: '/operator/oct/{requestId}',
    summary: 'Look up an OCT',
    parameters: { requestId },
    answers: { 200: { description: 'The OCT', schema: Oct } },
    codes: [...READ, 'OPERATION_NOT_FOUND'],
  },
  listReviews: {
    ...common,
    method: 'get',
    path: '/operator/reviews',
    summary: 'List what waits for a decision: unknown outcomes, needs review, frozen holds',
    query: ListReviewsQuery,
    answers: { 200: { description: 'A page', schema: ReviewPage } },
    codes: READ,
  },
  resolveReview: {
    ...common,
    method: 'post',
    path: '/operator/reviews/{requestId}/resolve',
    summary: 'Say how an attempt ended, or unfreeze a hold',
    description:
      'The processor is asked once more before, and from then on refuses an operation that it does not know. INVALID_REQUEST ' +
      'where it says otherwise, is still at work, or gives no answer and `unfenced` is not set.',
    parameters: { requestId },
    body: ResolveBody,
    answers: { 200: { description: 'What was decided', schema: Resolved } },
    codes: [...WRITE, 'OPERATION_NOT_FOUND'],
  },
  listAudit: {
    ...common,
    method: 'get',
    path: '/operator/audit',
    summary: 'List what operators did',
    query: ListAuditQuery,
    answers: { 200: { description: 'A page', schema: AuditPage } },
    codes: READ,
  },
} as const satisfies Record<string, Route>;
