import type { ServiceImpl } from '@connectrpc/connect';
import type { OperatorService } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { listAuditEntries } from '../audit-log/list-audit-entries.ts';
import type { Core } from '../core.ts';
import { getOverview } from '../overview/get-overview.ts';
import { listMinutes } from '../overview/list-minutes.ts';
import { listReviewItems } from '../review/list-review-items.ts';
import { resolveOperation } from '../review/resolve-operation.ts';
import { endSession } from '../session/end-session.ts';

/** The handlers of OperatorService. */
export function operatorHandlers(core: Core): ServiceImpl<typeof OperatorService> {
  return {
    // Whoever gets here has an operator's credential: the interceptors have seen to it.
    checkOperator: () => ({}),
    endSession: endSession(core),
    getOverview: getOverview(core),
    listMinutes: listMinutes(core),
    listReviewItems: listReviewItems(core),
    resolveOperation: resolveOperation(core),
    listAuditEntries: listAuditEntries(core),
  };
}
