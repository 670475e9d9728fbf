import { ListOperationsRequestSchema } from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import { listResults, type OperationRow, type ResultFilter } from '../../storage/operation/operation-row.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { filtersOf, readPage } from '../pages.ts';
import { presentOperation } from '../present.ts';
import { scopeOf } from '../server/caller.ts';

/** Lists final results, newest first; their sequence is the page's cursor. */
export const listOperations: Method<'listOperations'> = async (core, request, context) => {
  const scope = scopeOf(context, request.merchantId);
  const { state, merchantId: _, ...same } = filtersOf<Asked>(ListOperationsRequestSchema, request);
  if (same.holdRequestId !== undefined && !isUuid(same.holdRequestId)) return { operations: [], nextPageToken: '' };
  const filters = { ...same, ...(state && { status: state }) };
  const ofScope = { ...filters, ...(scope !== undefined && { merchantId: scope }) };
  const { page, nextPageToken } = await readPage(request, filters, BY_SEQUENCE, {
    read: (after, limit) => listResults(core.reads, ofScope, after === undefined ? undefined : BigInt(after), limit),
    present: presentOperation,
  });
  return { operations: page, nextPageToken };
};

/** The request says `state`, as operations without a result do. */
type Asked = Omit<ResultFilter, 'status'> & { readonly state?: OperationRow['status'] };

const BY_SEQUENCE = {
  isKey: (text: string) => /^\d{1,18}$/.test(text),
  keyOf: ({ sequence }: OperationRow) => sequence.toString(),
};
