import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MethodImpl } from '@connectrpc/connect';
import {
  OperationKind,
  type OperationSchema,
  type OperationService,
} from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { CaptureEntity } from '../../storage/capture.ts';
import { HoldEntity, type HoldRow } from '../../storage/hold.ts';
import { OctEntity } from '../../storage/oct.ts';
import { OperationEntity } from '../../storage/operation.ts';
import { ReleaseEntity } from '../../storage/release.ts';
import { scopeOf } from '../caller.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { presentOperation } from '../present.ts';
import { refusalOf } from '../refuse.ts';

/** Looks up an operation: its result, or, while it has none, the attempt. */
export function getOperation(core: Core): MethodImpl<typeof OperationService.method.getOperation> {
  return async (request, context) => {
    const merchantId = scopeOf(context, request.merchantId);
    if (!isUuid(request.requestId)) throw refusalOf('OPERATION_NOT_FOUND');
    const where = { requestId: request.requestId, ...(merchantId !== undefined && { merchantId }) };
    const operation = await findOperation(core, where);
    if (!operation) throw refusalOf('OPERATION_NOT_FOUND');
    return { operation };
  };
}

/** An operation's result, or, while it has none, the attempt; undefined when there is neither. */
export async function findOperation(core: Core, where: { requestId: string; merchantId?: string }) {
  const final = await core.database.orm.em.fork().findOne(OperationEntity, where);
  return final ? presentOperation(final) : findAttempt(core, where);
}

async function findAttempt(
  core: Core,
  where: { requestId: string; merchantId?: string },
): Promise<MessageInitShape<typeof OperationSchema> | undefined> {
  const em = core.database.orm.em.fork();
  const hold = await em.findOne(HoldEntity, where);
  if (hold) return { ...common(hold), kind: OperationKind.HOLD, state: stateOf(hold.phase) };
  const capture = await em.findOne(CaptureEntity, where);
  if (capture) {
    const { holdRequestId } = capture;
    return { ...common(capture), kind: OperationKind.CAPTURE, holdRequestId, state: OperationState[capture.state] };
  }
  const release = await em.findOne(ReleaseEntity, { ...where, reason: { $ne: 'LATE' } });
  if (release) {
    const kind = release.reason === 'EXPIRED' ? OperationKind.EXPIRY : OperationKind.RELEASE;
    return { ...common(release), kind, holdRequestId: release.holdRequestId, state: OperationState[release.state] };
  }
  const oct = await em.findOne(OctEntity, where);
  return oct ? { ...common(oct), kind: OperationKind.OCT, state: OperationState[oct.state] } : undefined;
}

function common(row: { requestId: string; merchantId: string; amount: bigint; currency: string }) {
  const { requestId, merchantId, amount, currency } = row;
  return { requestId, merchantId, amount, currency };
}

function stateOf(phase: HoldRow['phase']): OperationState {
  if (phase === 'UNKNOWN') return OperationState.UNKNOWN;
  return phase === 'NEEDS_REVIEW' ? OperationState.NEEDS_REVIEW : OperationState.PENDING;
}
