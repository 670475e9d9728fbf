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
import type { Core, Method } from '../core.ts';
import { BY_ID, filtersOf, readPage } from '../pages.ts';
import { keptNotificationKind, present } from '../present.ts';

/** Stores notifications that the relay could not verify, for operators. */
export const reportVerificationFailures: Method<'reportVerificationFailures'> = async (core, request) => {
  const { failures, droppedCount } = request;
  await core.database.transaction((query) => insertVerificationFailures(query, failures.map(inputOf)));
  if (droppedCount > 0) core.log.warn('verification_failures_dropped', { count: droppedCount });
  return {};
};

function inputOf({ failureId, failedAt, reason, kind, bodySha256, explain, ...same }: VerificationFailure) {
  return {
    ...same,
    id: failureId,
    failedAt: failedAt ? timestampDate(failedAt).toISOString() : '',
    reason: VerificationFailureReason[reason],
    kind: keptNotificationKind(kind),
    bodySha256: Buffer.from(bodySha256).toString('hex'),
    explain: explain ? { ...explain } : null,
  };
}

/** Lists notifications that the relay could not verify, newest first. */
export const listVerificationFailures: Method<'listVerificationFailures'> = (core, request, context) =>
  readFailures(core, request, filtersOf<VerificationFailureFilter>(context, request));

/** The same of a merchant, for the merchant. */
export const listRelayFailures: Method<'listRelayFailures'> = (core, request, context) => {
  const filters = filtersOf<{ merchantId: string; reason?: string; senderId?: string }>(context, request);
  const { merchantId: claimedMerchantId, senderId, ...same } = filters;
  const ofSender = senderId === undefined ? {} : ({ kind: 'relay', statusInfo: senderId } as const);
  return readFailures(core, request, { claimedMerchantId, ...same, ...ofSender });
};

function readFailures(core: Core, page: Parameters<typeof readPage>[1], filter: VerificationFailureFilter) {
  return readPage('failures', page, filter, BY_ID, {
    read: (filters, after, limit) => listStored(core.reads, filters, after, limit),
    present: (row) => present(VerificationFailureSchema, row, { failureId: row.id }),
  });
}
