import { z } from 'zod';
import { CAPTURE, KEYED_WRITE, PROCESSOR, READ, RELEASE } from '../../codes.ts';
import type { Route } from '../../route.ts';
import { requestId } from '../schema/fields.ts';
import { idempotencyKey, replayed, signedCapture } from '../schema/headers.ts';
import * as bodies from '../schema/preauthorization.ts';
import * as answers from '../schema/preauthorization-answers.ts';
import { inProgress, WRITE_PROMISES } from './write-promises.ts';

const keyed = { 'Idempotency-Key': idempotencyKey.optional() };
const unknown = inProgress('/operations/{requestId}');

/** Holds: placing, capturing, giving back, looking up. */
export const PREAUTHORIZATION_ROUTES = {
  createPreauthorization: {
    method: 'post',
    path: '/preauthorization',
    tag: 'Holds',
    summary: 'Place a hold',
    description:
      'With `tokenId` the amount is held at once. Without, the answer carries `checkoutUrl`, where the customer enters a ' +
      'card; what became of it is told by a notification and by GET. Refusals of the processor (CARD_DECLINED, ' +
      'TOKEN_INVALID, PROCESSOR_ERROR) are recorded and carry their `requestId`.',
    credential: 'apiKey',
    headers: keyed,
    body: bodies.CreatePreauthorizationBody,
    answers: {
      201: {
        description: 'The hold; without `tokenId`, where the customer enters a card',
        schema: z.union([answers.Hold, answers.OpenCheckout]),
        headers: replayed,
      },
      202: unknown,
    },
    codes: [...KEYED_WRITE, 'TOKEN_INVALID', ...PROCESSOR],
    promises: WRITE_PROMISES,
  },
  capturePreauthorization: {
    method: 'post',
    path: '/preauthorization/authorization',
    tag: 'Holds',
    summary: 'Capture a hold, in full or in part',
    description:
      'Where the contract allows one capture, it releases what is left; where it allows several, `finalCapture` does. ' +
      'Merchants whose contract says so sign this request (RFC 9421).',
    credential: 'apiKey',
    headers: { ...keyed, ...signedCapture },
    body: bodies.CapturePreauthorizationBody,
    answers: {
      200: { description: 'The capture', schema: answers.Capture, headers: replayed },
      202: unknown,
    },
    codes: [...CAPTURE, 'SIGNATURE_REQUIRED'],
    promises: WRITE_PROMISES,
  },
  releasePreauthorization: {
    method: 'post',
    path: '/preauthorization/release',
    tag: 'Holds',
    summary: 'Give back what remains of a hold, or cancel its checkout',
    credential: 'apiKey',
    headers: keyed,
    body: bodies.ReleasePreauthorizationBody,
    answers: {
      200: { description: 'The hold, closed', schema: answers.ReleasedHold, headers: replayed },
      202: unknown,
    },
    codes: RELEASE,
    promises: WRITE_PROMISES,
  },
  listPreauthorizations: {
    method: 'get',
    path: '/preauthorization',
    tag: 'Holds',
    summary: 'List holds, newest first',
    description: 'Filters are joined by AND. Items do not carry `preauthorizationId`.',
    credential: 'apiKey',
    query: bodies.ListPreauthorizationsQuery,
    answers: { 200: { description: 'A page', schema: answers.HoldPage } },
    codes: READ,
  },
  getPreauthorization: {
    method: 'get',
    path: '/preauthorization/{requestId}',
    tag: 'Holds',
    summary: 'Look up a hold with its captures',
    credential: 'apiKey',
    parameters: { requestId },
    answers: { 200: { description: 'The hold', schema: answers.HoldWithCaptures } },
    codes: [...READ, 'PREAUTHORIZATION_NOT_FOUND'],
  },
} as const satisfies Record<string, Route>;
