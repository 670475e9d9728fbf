import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { MethodImpl } from '@connectrpc/connect';
import type { OperatorService } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { readOverview } from '../../reports/overview.ts';
import type { Core } from '../core.ts';

/** A hold that ends within this time "expires soon". */
const SOON_MS = 24 * 3_600 * 1_000;

/** Counts what may need an operator's attention, in one statement. */
export function getOverview(core: Core): MethodImpl<typeof OperatorService.method.getOverview> {
  return async () => {
    const now = core.clock();
    const { oldestUnknownAt, oldestDueAt, ...counts } = await readOverview(
      core.database.query,
      now,
      new Date(now.getTime() + SOON_MS),
    );
    return {
      ...counts,
      ...(oldestUnknownAt && { oldestUnknownAt: timestampFromDate(oldestUnknownAt) }),
      ...(oldestDueAt && { oldestDueAt: timestampFromDate(oldestDueAt) }),
      at: timestampFromDate(now),
    };
  };
}
