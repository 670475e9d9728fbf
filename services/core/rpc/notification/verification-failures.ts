import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  type VerificationFailure,
  VerificationFailureReason,
  VerificationFailureSchema,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import {
  insertVerificationFailures,
  listVerificationFailures as listStored,
  type VerificationFailureFilter,
} from '../../storage/notification/verification-failure.ts';
import type { Method } from '../core.ts';
import { BY_ID, filtersOf, readPage } from '../pages.ts';
import { keptNotificationKind, present } from '../present.ts';

/** Stores notifications that the relay could not verify, for operators. */
export const reportVerificationFailures: Method<'reportVerificationFailures'> = async (core, request) => {
  const { failures, droppedCount } = request;
  await core.database.transaction((query) => insertVerificationFailures(query, failures.map(inputOf)));
  if (droppedCount > 0) core.log.warn('verification_failures_dropped', { count: droppedCount });
  return {};
};

function inputOf({ failureId, failedAt, reason, kind, bodySha256, ...same }: VerificationFailure) {
  return {
    ...same,
    id: failureId,
    failedAt: failedAt ? timestampDate(failedAt).toISOString() : '',
    reason: VerificationFailureReason[reason],
    kind: keptNotificationKind(kind),
    bodySha256: Buffer.from(bodySha256).toString('hex'),
  };
}

/** Lists notifications that the relay could not verify, newest first. */
export const listVerificationFailures: Method<'listVerificationFailures'> = (core, request, context) =>
  readPage('failures', request, filtersOf<VerificationFailureFilter>(context, request), BY_ID, {
    read: (filters, after, limit) => listStored(core.reads, filters, after, limit),
    present: (row) => present(VerificationFailureSchema, row, { failureId: row.id }),
  });
