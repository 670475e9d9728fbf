import { CAPTURE, READ, RELEASE } from '../../codes.ts';
import { inProgress, WRITE_PROMISES } from '../../rest/routes/write-promises.ts';
import { requestId } from '../../rest/schema/answer-fields.ts';
import { idempotencyKey, replayed } from '../../rest/schema/headers.ts';
import { Capture } from '../../rest/schema/preauthorization-answers.ts';
import type { Route } from '../../route.ts';
import { NoBody } from '../schema/fields.ts';
import {
  CaptureHoldBody,
  ListHoldsQuery,
  OperatorHoldPage,
  OperatorHoldStory,
  OperatorReleasedHold,
} from '../schema/hold.ts';

const common = { tag: 'Operators: holds', credential: 'operator' } as const;
const headers = { 'Idempotency-Key': idempotencyKey.optional() };
const unknown = inProgress('/operator/operations/{requestId}');

/** Holds of all merchants; captured and released by requestId, never by their handle. */
export const HOLD_ROUTES = {
  listHolds: {
    ...common,
    method: 'get',
    path: '/operator/holds',
    summary: 'Search holds',
    query: ListHoldsQuery,
    answers: { 200: { description: 'A page', schema: OperatorHoldPage } },
    codes: READ,
  },
  getHold: {
    ...common,
    method: 'get',
    path: '/operator/holds/{requestId}',
    summary: 'Look up a hold with its captures, operations and deliveries',
    parameters: { requestId },
    answers: { 200: { description: 'The hold', schema: OperatorHoldStory } },
    codes: [...READ, 'PREAUTHORIZATION_NOT_FOUND'],
  },
  captureHold: {
    ...common,
    method: 'post',
    path: '/operator/holds/{requestId}/capture',
    summary: 'Capture a hold',
    parameters: { requestId },
    headers,
    body: CaptureHoldBody,
    answers: { 200: { description: 'Captured', schema: Capture, headers: replayed }, 202: unknown },
    codes: CAPTURE,
    promises: WRITE_PROMISES,
  },
  releaseHold: {
    ...common,
    method: 'post',
    path: '/operator/holds/{requestId}/release',
    summary: 'Give back what remains of a hold, or cancel its checkout',
    parameters: { requestId },
    headers,
    body: NoBody,
    answers: { 200: { description: 'Released', schema: OperatorReleasedHold, headers: replayed }, 202: unknown },
    codes: RELEASE,
    promises: WRITE_PROMISES,
  },
} as const satisfies Record<string, Route>;
