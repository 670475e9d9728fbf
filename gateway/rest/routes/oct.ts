import { KEYED_WRITE, PROCESSOR, READ } from '../../codes.ts';
import type { Route } from '../../route.ts';
import { requestId } from '../schema/fields.ts';
import { idempotencyKey, replayed } from '../schema/headers.ts';
import { CreateOctBody, Oct } from '../schema/oct.ts';
import { inProgress, WRITE_PROMISES } from './write-promises.ts';

/** Original credit transactions. */
export const OCT_ROUTES = {
  createOct: {
    method: 'post',
    path: '/oct',
    tag: 'OCT',
    summary: 'Pay an amount to a card',
    credential: 'apiKey',
    headers: { 'Idempotency-Key': idempotencyKey.optional() },
    body: CreateOctBody,
    answers: {
      201: { description: 'Paid', schema: Oct, headers: replayed },
      202: inProgress('/operations/{requestId}'),
    },
    codes: [...KEYED_WRITE, 'TOKEN_INVALID', ...PROCESSOR],
    promises: WRITE_PROMISES,
  },
  getOct: {
    method: 'get',
    path: '/oct/{requestId}',
    tag: 'OCT',
    summary: 'Look up an OCT, final or not',
    credential: 'apiKey',
    parameters: { requestId },
    answers: { 200: { description: 'The OCT', schema: Oct } },
    codes: [...READ, 'OPERATION_NOT_FOUND'],
  },
} as const satisfies Record<string, Route>;
