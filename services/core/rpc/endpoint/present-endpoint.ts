import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { EndpointPause, type EndpointSchema } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { EndpointRow } from '../../storage/endpoint/endpoint.ts';
import { endpointKindOf } from '../kinds.ts';

/** An endpoint as operators see it. */
export function presentEndpoint(row: Readonly<EndpointRow>): MessageInitShape<typeof EndpointSchema> {
  return {
    merchantId: row.merchantId,
    endpointKind: endpointKindOf(row.kind),
    pause: row.pause == null ? EndpointPause.UNSPECIFIED : EndpointPause[row.pause],
    ...(row.pausedUntil && { pausedUntil: timestampFromDate(row.pausedUntil) }),
    failureCount: row.failureCount,
    changedAt: timestampFromDate(row.changedAt),
  };
}
