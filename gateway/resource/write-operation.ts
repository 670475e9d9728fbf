/** Writes that create an operation: its requestId, the three answers it can get, and what these answers promise. */

import { randomUUIDv7 } from 'node:crypto';
import type { Context } from 'koa';
import { z } from 'zod';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import { OutcomeUnknown } from '../core/retry-calls.ts';
import { isServiceError, Problem, problemOfRpc } from '../http/problem.ts';
import type { Json } from './answer.ts';
import { requestId } from './answer-fields.ts';
import { some } from './core-messages.ts';
import { KEYED, REPLAYED, readIdempotencyKey } from './idempotency-key.ts';

/** What a write answers: its result, or which operation has none yet. */
export interface Outcome {
  /** It was stored under the idempotency key before. */
  readonly replayed: boolean;
  readonly body?: Json;
  readonly inProgress?: { readonly requestId: string; readonly holdRequestId?: string };
}

/** The outcome of an operation that core answers with: `json` makes the answer when it is OK. */
export function outcomeOf<M extends { readonly state: OperationState } & NonNullable<Outcome['inProgress']>>(
  operation: M,
  replayed: boolean,
  json: (operation: M) => Json,
): Outcome {
  return operation.state === OperationState.OK
    ? { body: json(operation), replayed }
    : { inProgress: operation, replayed };
}

/**
 * Creates a requestId and makes a write under it, so that core's client can retry the write, and the client can ask
 * about it. Returns the body of the outcome that `write` returns; answers 202 when it is unknown. Throws INTERNAL with
 * the requestId for an unexpected failure, and Problem for a refusal, also of the Idempotency-Key.
 */
export async function writeOperation(ctx: Context, write: (name: OperationName) => Promise<Outcome>) {
  const key = readIdempotencyKey(ctx);
  const operationRequestId = randomUUIDv7();
  ctx.state.requestId = operationRequestId;
  try {
    return answer(ctx, await write({ ...key, operationRequestId }));
  } catch (error) {
    if (error instanceof OutcomeUnknown) {
      return answer(ctx, { inProgress: { requestId: operationRequestId }, replayed: false });
    }
    const problem = isServiceError(error) ? problemOfRpc(error) : error;
    if (problem instanceof Problem && problem.code !== 'INTERNAL') throw problem;
    throw new Problem('INTERNAL', { requestId: operationRequestId, cause: error });
  }
}

function answer(ctx: Context, { replayed, body, inProgress }: Outcome): Json | undefined {
  if (replayed) ctx.set('Idempotency-Replayed', 'true');
  ctx.state.requestId = (body ?? inProgress)?.requestId;
  if (inProgress === undefined) return body;
  const { requestId, holdRequestId } = inProgress;
  ctx.status = 202;
  ctx.body = { requestId, holdRequestId: some(holdRequestId), status: 'IN_PROGRESS' };
  return undefined;
}

/** How core is told which operation a write creates: under its requestId, and the client's own key if it sent one. */
export interface OperationName {
  readonly operationRequestId: string;
  readonly idempotencyKey?: string;
}

const InProgress = z
  .object({
    requestId,
    holdRequestId: requestId.describe('The hold, when the operation is about one').optional(),
    status: z.literal('IN_PROGRESS'),
  })
  .meta({
    id: 'InProgress',
    description:
      'The outcome is not known yet: core or the processor gave no answer. Do not send it again, unless under the ' +
      'same Idempotency-Key: ask for requestId, or wait for the notification. What was not done at all is answered ' +
      '404, and that is final later than 30 seconds after this answer',
  });

const NOTHING_STORED = 'Nothing was stored, nothing was sent to the processor, and nothing will come of this request';

/** What a refused write promises, by HTTP status. */
const WRITE_PROMISES: Readonly<Record<number, string>> = {
  408: `${NOTHING_STORED}: send it again.`,
  429: `${NOTHING_STORED}: send it again after Retry-After.`,
  500: 'A bug. The operation may have been done: ask for `requestId` as after 202.',
  503: `${NOTHING_STORED}: send it again after Retry-After.`,
};

/**
 * What all routes that create an operation have in common. `schema` is the answer when it is done; `lookUp` is the path
 * of the route that answers with the operation.
 */
export function createsOperation(status: 200 | 201, description: string, schema: z.ZodType, lookUp: string) {
  const inProgress =
    `It may have been done, and is being found out. Ask \`GET ${lookUp}\`: a 404 later than 30 seconds after this ` +
    'answer is final, it was not done and never will be';
  return {
    method: 'post',
    headers: KEYED,
    answers: {
      [status]: { description, schema, headers: REPLAYED },
      202: { description: inProgress, schema: InProgress, headers: REPLAYED },
    },
    promises: WRITE_PROMISES,
  } as const;
}
