import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  type VerificationFailure,
  VerificationFailureReason,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import {
  insertVerificationFailures,
  type VerificationFailureInput,
} from '../../storage/notification/verification-failure.ts';
import type { Method } from '../core.ts';
import { keptNotificationKind } from '../present.ts';

/** Stores notifications that the relay could not verify, for operators. */
export const reportVerificationFailures: Method<'reportVerificationFailures'> = async (
  core,
  { failures, droppedCount },
) => {
  await core.database.transaction((query) => insertVerificationFailures(query, failures.map(inputOf)));
  if (droppedCount > 0) core.log.warn('verification_failures_dropped', { count: droppedCount });
  return {};
};

function inputOf(failure: VerificationFailure): VerificationFailureInput {
  return {
    id: failure.failureId,
    failedAt: failure.failedAt ? timestampDate(failure.failedAt).toISOString() : '',
    reason: VerificationFailureReason[failure.reason],
    kind: keptNotificationKind(failure.kind),
    statusInfo: failure.statusInfo,
    claimedMerchantId: failure.claimedMerchantId,
    address: failure.address,
    bodyBytes: failure.bodyBytes,
    bodySha256: Buffer.from(failure.bodySha256).toString('hex'),
    signatureSha256Prefix: failure.signatureSha256Prefix,
  };
}
