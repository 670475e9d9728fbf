import type { Middleware } from 'koa';
import { ReviewReason } from '../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import type { Core } from '../core.ts';
import { octJson } from '../rest/answer/oct.ts';
import { operationJson } from '../rest/answer/operation.ts';
import { some } from '../rest/answer/words.ts';
import { defined } from '../rest/defined.ts';
import { operationFilters } from '../rest/filters.ts';
import { readQuery } from '../rest/read-query.ts';
import { isRequestId } from '../rest/read-request-id.ts';
import { NoQuery } from '../rest/schema/fields.ts';
import { streamOperations, type WatchOptions } from '../rest/watch-operations.ts';
import { auditEntryJson, minuteJson, overviewJson, reviewJson } from './answer/overview.ts';
import { callOf, operatorOf } from './authenticate.ts';
import { readFields, readName } from './read-fields.ts';
import type { OVERVIEW_ROUTES } from './routes/overview.ts';
import { ListOperatorOperationsQuery, WatchOperatorOperationsQuery } from './schema/operation.ts';
import { ListAuditQuery, SeriesQuery } from './schema/overview.ts';
import { ListReviewsQuery, ResolveBody } from './schema/review.ts';

/** What goes on across merchants, what waits for a decision, and what operators did. */
export function overviewHandlers(options: WatchOptions): Record<keyof typeof OVERVIEW_ROUTES, Middleware> {
  const { core } = options;
  return {
    getOverview: async (ctx) => {
      readQuery(ctx, NoQuery);
      ctx.body = overviewJson(await core.operators.getOverview({}, callOf(ctx)));
    },
    listMinutes: async (ctx) => {
      const { minutes = '60', merchantId = '' } = readQuery(ctx, SeriesQuery);
      const answer = await core.operators.listMinutes({ minuteCount: Number(minutes), merchantId }, callOf(ctx));
      ctx.body = { items: answer.minutes.map(minuteJson) };
    },
    listOperatorOperations: listOperations(core),
    watchOperatorOperations: async (ctx) => {
      const { merchantId = '' } = readQuery(ctx, WatchOperatorOperationsQuery);
      const { isLive } = operatorOf(ctx);
      await streamOperations(ctx, options, { merchantId, credential: 'operator', isLive, ...callOf(ctx) });
    },
    getOperatorOperation: async (ctx) => {
      readQuery(ctx, NoQuery);
      const { operation } = await core.operations.getOperation({ requestId: readName(ctx, 'requestId') }, callOf(ctx));
      ctx.body = operation && operationJson(operation);
    },
    getOperatorOct: async (ctx) => {
      readQuery(ctx, NoQuery);
      const { oct } = await core.octs.getOct({ requestId: readName(ctx, 'requestId') }, callOf(ctx));
      ctx.body = oct && octJson(oct);
    },
    listReviews: async (ctx) => {
      const { reason, pageSize, ...filters } = readQuery(ctx, ListReviewsQuery);
      const request = { ...filters, reason: reason && ReviewReason[reason], pageSize: Number(pageSize ?? 0) };
      const { items, nextPageToken } = await core.operators.listReviewItems(defined(request), callOf(ctx));
      ctx.body = { items: items.map(reviewJson), nextPageToken: some(nextPageToken) };
    },
    resolveReview: resolveReview(core),
    listAudit: async (ctx) => {
      const { pageSize, ...filters } = readQuery(ctx, ListAuditQuery);
      const request = defined({ ...filters, pageSize: Number(pageSize ?? 0) });
      const { entries, nextPageToken } = await core.operators.listAuditEntries(request, callOf(ctx));
      ctx.body = { items: entries.map(auditEntryJson), nextPageToken: some(nextPageToken) };
    },
  };
}

function listOperations(core: Core): Middleware {
  return async (ctx) => {
    const query = readQuery(ctx, ListOperatorOperationsQuery);
    if (query.holdRequestId !== undefined && !isRequestId(query.holdRequestId)) {
      ctx.body = { items: [] };
      return;
    }
    const request = operationFilters(query);
    const { operations, nextPageToken } = await core.operations.listOperations(request, callOf(ctx));
    ctx.body = { items: operations.map(operationJson), nextPageToken: some(nextPageToken) };
  };
}

function resolveReview(core: Core): Middleware {
  return async (ctx) => {
    const requestId = readName(ctx, 'requestId');
    const { outcome, processorCode, processorMessage, ...rest } = await readFields(ctx, ResolveBody);
    const error = { code: processorCode ?? '', message: processorMessage ?? '' };
    const request = defined({
      ...rest,
      requestId,
      outcome: outcome && OperationState[outcome],
      processorError: processorCode || processorMessage ? error : undefined,
    });
    const { operation, frozen } = await core.operators.resolveOperation(request, callOf(ctx));
    ctx.state.requestId = requestId;
    ctx.body = { requestId, operation: operation && operationJson(operation), frozen };
  };
}
