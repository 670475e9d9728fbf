import assert from 'node:assert/strict';
import type { Middleware } from 'koa';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import type { Core } from '../core.ts';
import { answer, answerInProgress, write } from '../rest/answer/answer.ts';
import { operationJson } from '../rest/answer/operation.ts';
import { captureJson } from '../rest/answer/preauthorization.ts';
import { some } from '../rest/answer/words.ts';
import { holdFilters } from '../rest/filters.ts';
import { readIdempotencyKey } from '../rest/idempotency.ts';
import { readQuery } from '../rest/read-query.ts';
import { NoQuery } from '../rest/schema/fields.ts';
import { operatorHoldJson } from './answer/hold.ts';
import { deliveryJson } from './answer/notification.ts';
import { callOf } from './authenticate.ts';
import { readFields, readName } from './read-fields.ts';
import type { HOLD_ROUTES } from './routes/hold.ts';
import { NoBody } from './schema/fields.ts';
import { CaptureHoldBody, ListHoldsQuery } from './schema/hold.ts';

/** Holds of all merchants. No answer carries the handle of one. */
export function holdHandlers(core: Core): Record<keyof typeof HOLD_ROUTES, Middleware> {
  return {
    listHolds: listHolds(core),
    getHold: getHold(core),
    captureHold: captureHold(core),
    releaseHold: releaseHold(core),
  };
}

function listHolds(core: Core): Middleware {
  return async (ctx) => {
    const request = holdFilters(readQuery(ctx, ListHoldsQuery));
    const page = await core.preauthorizations.listPreauthorizations(request, callOf(ctx));
    ctx.body = { items: page.preauthorizations.map(operatorHoldJson), nextPageToken: some(page.nextPageToken) };
  };
}

/** The hold's whole story: what it is, what became of it, and who was told. */
function getHold(core: Core): Middleware {
  return async (ctx) => {
    readQuery(ctx, NoQuery);
    const requestId = readName(ctx, 'requestId', 'PREAUTHORIZATION_NOT_FOUND');
    const call = callOf(ctx);
    const { preauthorization: hold } = await core.preauthorizations.getPreauthorization({ requestId }, call);
    assert(hold, 'core answers with the hold');
    const [own, rest, told] = await Promise.all([
      core.operations.getOperation({ requestId }, call),
      core.operations.listOperations({ holdRequestId: requestId, pageSize: MOST }, call),
      core.notifications.listDeliveries({ holdRequestId: requestId, pageSize: MOST }, call),
    ]);
    const operations = [...(own.operation ? [own.operation] : []), ...rest.operations.toReversed()];
    ctx.state.requestId = requestId;
    ctx.body = {
      ...operatorHoldJson(hold),
      captures: hold.captures.map(captureJson),
      operations: operations.map(operationJson),
      deliveries: told.deliveries.toReversed().map(deliveryJson),
    };
  };
}

/** The newest of them are shown; the lists have the rest. */
const MOST = 200;

function captureHold(core: Core): Middleware {
  return async (ctx) => {
    const requestId = readName(ctx, 'requestId', 'PREAUTHORIZATION_NOT_FOUND');
    const { amountToCapture, finalCapture = false } = await readFields(ctx, CaptureHoldBody);
    const fields = { ...readIdempotencyKey(ctx), requestId, amountToCapture: BigInt(amountToCapture), finalCapture };
    await write(ctx, async (name) => {
      const { capture, replayed } = await core.preauthorizations.capturePreauthorization(
        { ...fields, ...name },
        callOf(ctx),
      );
      assert(capture, 'core answers with the capture');
      if (capture.state === OperationState.OK) return answer(ctx, 200, captureJson(capture), replayed);
      answerInProgress(ctx, { requestId: capture.requestId, holdRequestId: some(capture.holdRequestId) }, replayed);
    });
  };
}

function releaseHold(core: Core): Middleware {
  return async (ctx) => {
    const requestId = readName(ctx, 'requestId', 'PREAUTHORIZATION_NOT_FOUND');
    await readFields(ctx, NoBody);
    const request = { ...readIdempotencyKey(ctx), requestId };
    await write(ctx, async (name) => {
      const release = await core.preauthorizations.releasePreauthorization({ ...request, ...name }, callOf(ctx));
      const hold = release.preauthorization;
      assert(hold, 'core answers with the hold');
      if (release.state === OperationState.OK) {
        const body = { ...operatorHoldJson(hold), releaseRequestId: some(release.requestId) };
        return answer(ctx, 200, body, release.replayed);
      }
      answerInProgress(ctx, { requestId: release.requestId, holdRequestId: hold.requestId }, release.replayed);
    });
  };
}
