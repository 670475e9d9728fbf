/** Writes that create an operation: its name, the answers it can get, and what these answers promise. */

import type { Context } from 'koa';
import { z } from 'zod';
import { drawId } from '../../platform/draw-id.ts';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import { CapturePreauthorizationRequestSchema } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { Core } from '../core/client.ts';
import { OutcomeUnknown } from '../core/retry-calls.ts';
import { invalidHeader, isServiceError, Problem, problemOfRpc } from '../http/problem.ts';
import type { Json } from './answer.ts';
import { requestId, some } from './answer-fields.ts';
import { formOf } from './contract-bounds.ts';
import type { Described, describing, Target } from './route.ts';

/** The name of the operation that a write creates: its requestId, and the client's own key if there is one. */
export interface OperationName {
  readonly operationRequestId: string;
  readonly idempotencyKey?: string;
}

/**
 * Makes the function that describes routes which create an operation, with all that such routes have in common. Their
 * handlers are also called with the operation's `name`; `lookUp` is the path of the route that answers with it.
 */
export function describingWrites<Call extends { readonly ctx: Context; readonly core: Core }>(
  describe: ReturnType<typeof describing<Call>>,
  lookUp: string,
) {
  const description =
    `It may have been done, and is being found out. Ask \`GET ${lookUp}\`, or repeat the request under its ` +
    'Idempotency-Key. Of a request without a key, a 404 later than 30 seconds after this answer is final: it was not ' +
    'done and never will be';
  return <T extends Target, Q extends z.ZodObject, B extends z.ZodType>(
    tag: string,
    target: T,
    route: Described<Call & { readonly name: OperationName }, T, Q, B>,
  ) => {
    const answers = Object.entries(route.answers).map(([status, answer]) => [status, { ...answer, headers: REPLAYED }]);
    const described: Described<Call, T, Q, B> = {
      ...route,
      effect: 'OPERATION',
      headers: { ...KEYED, ...route.headers },
      answers: { ...Object.fromEntries(answers), 202: { description, schema: InProgress, headers: REPLAYED } },
      promises: WRITE_PROMISES,
      handler: (call) => namingOperation(call.ctx, (name) => route.handler({ ...call, name })),
    };
    return describe(tag, target, described);
  };
}

/**
 * Creates a requestId and makes a write under it, so that core's client can retry the write, and the client can ask
 * about it. When core has not said what became of the write, the requestId names the operation only if the client sent
 * no key: under a key another request may have made it before, with a requestId of its own. So the answer is 202, or
 * IDEMPOTENCY_IN_FLIGHT for a write with a key. Throws INTERNAL, with the requestId in the same case, for an
 * unexpected failure, and Problem for a refusal, also of the Idempotency-Key.
 */
async function namingOperation(ctx: Context, write: (name: OperationName) => unknown): Promise<unknown> {
  const key = readIdempotencyKey(ctx);
  const operationRequestId = drawId();
  ctx.state.requestId = operationRequestId;
  try {
    return await write({ ...key, operationRequestId });
  } catch (error) {
    const isKeyed = key.idempotencyKey !== undefined;
    if (error instanceof OutcomeUnknown) {
      if (isKeyed) throw new Problem('IDEMPOTENCY_IN_FLIGHT', { detail: `${NOT_KNOWN} ${REPEAT}`, cause: error });
      return answerInProgress(ctx, { requestId: operationRequestId });
    }
    const problem = isServiceError(error) ? problemOfRpc(error) : error;
    if (problem instanceof Problem && problem.code !== 'INTERNAL') throw problem;
    const told = isKeyed ? { detail: `Something went wrong. ${REPEAT}` } : { requestId: operationRequestId };
    throw new Problem('INTERNAL', { ...told, cause: error });
  }
}

const NOT_KNOWN = 'It is not known yet whether this was done.';
const REPEAT = 'Repeat it with the same Idempotency-Key, which answers what became of it, and under no other.';

/** An operation in core's answer to a write. */
interface Written {
  readonly requestId: string;
  readonly holdRequestId?: string;
  readonly state: OperationState;
}

/**
 * Answers a write: what `json` makes of the operation once it is OK, else 202. `replayed`: it was stored under the
 * idempotency key before.
 */
export function answerOperation<O extends Written>(
  ctx: Context,
  operation: O,
  replayed: boolean,
  json: (operation: O) => Json,
): Json | undefined {
  if (replayed) ctx.set('Idempotency-Replayed', 'true');
  if (operation.state !== OperationState.OK) return answerInProgress(ctx, operation);
  const body = json(operation);
  ctx.state.requestId = body.requestId;
  return body;
}

function answerInProgress(ctx: Context, { requestId, holdRequestId }: Omit<Written, 'state'>): undefined {
  ctx.state.requestId = requestId;
  ctx.status = 202;
  ctx.body = { requestId, holdRequestId: some(holdRequestId), status: 'IN_PROGRESS' };
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
      'same Idempotency-Key: ask for requestId, or wait for the notification. What was sent without a key and not ' +
      'done at all is answered 404, and that is final later than 30 seconds after this answer',
  });

const NOTHING_STORED = 'Nothing was stored, nothing was sent to the processor, and nothing will come of this request';

/** The promises of refused writes, by HTTP status. */
const WRITE_PROMISES: Readonly<Record<number, string>> = {
  408: `${NOTHING_STORED}: send it again.`,
  409:
    'IDEMPOTENCY_IN_FLIGHT: whether the request with this key was done is not known yet. Repeat it with the same key ' +
    'after Retry-After; `requestId` is there when the operation is stored.',
  429: `${NOTHING_STORED}: send it again after Retry-After.`,
  500:
    'A bug. The operation may have been done: repeat it with the same Idempotency-Key; without one, ask for ' +
    '`requestId` as after 202.',
  503: `${NOTHING_STORED}: send it again after Retry-After.`,
};

const idempotencyKey = z
  .string()
  .regex(formOf(CapturePreauthorizationRequestSchema.field.idempotencyKey), 'must be 1 to 255 visible ASCII characters')
  .meta({
    description:
      'Makes a repetition safe: the same key with the same body gets the first answer again, with ' +
      'Idempotency-Replayed. One keyspace per merchant, for POST routes; kept for 7 days',
    examples: ['order-1001-hold'],
  });

const HEADER = 'Idempotency-Key';
const KEYED = { [HEADER]: idempotencyKey.optional() };
const REPLAYED = {
  'Idempotency-Replayed': z
    .literal('true')
    .describe('This is the first answer again; the request changed nothing')
    .optional(),
};

/**
 * Reads the Idempotency-Key header, to spread into a core request. Throws Problem INVALID_REQUEST naming the header.
 */
export function readIdempotencyKey(ctx: Context): { idempotencyKey?: string } {
  if (ctx.req.headers['idempotency-key'] === undefined) return {};
  const [key = '', ...others] = ctx.req.headersDistinct['idempotency-key'] ?? [];
  if (others.length > 0) throw invalidHeader(HEADER, 'is given more than once');
  const result = idempotencyKey.safeParse(key);
  if (!result.success) throw invalidHeader(HEADER, result.error.issues[0]?.message ?? '');
  return { idempotencyKey: key };
}
