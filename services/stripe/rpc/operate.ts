import { absent } from '../../../platform/adapter/authorization.ts';
import type { ResultInit } from '../../../platform/adapter/entry.ts';
import type { VoidRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { ENTRIES, intentOf, resultOf } from '../ledger/entry.ts';
import { advance, findAuthorization, OPERATIONS, type OperationKind, settleOthers } from '../settlement/advance.ts';
import { answerOf, conclude, type Recalled } from '../settlement/finish.ts';
import type { Operation } from '../settlement/operation.ts';
import { catchUp, findOrAdopt } from './rediscover.ts';

/** A request about an authorization. */
type Request = Pick<VoidRequest, 'account' | 'authorizationRequestId' | 'authorizationReference'>;

/**
 * Does an operation on an authorization: alone, after all that came before it has ended; its intent is stored before
 * Stripe is called. A repeated identifier returns the same result. Throws OutcomeUnknown.
 */
export async function operate(context: Context, kind: OperationKind, request: Request): Promise<ResultInit> {
  const intent = intentOf(kind, request);
  const known = await ENTRIES.recall(context.database.query, intent);
  if (known?.refused) return known.refused;
  if (known?.entry?.stage === 'ended') return resultOf(known.entry);
  const authorization = await findOrAdopt(context, request);
  if (!authorization) return answerOf(await conclude(context, intent, absent(request)));
  // Core has its result, which a restored ledger may lack.
  const isBehind = authorization.stage !== 'ended' && request.authorizationReference !== '';
  if (isBehind) await catchUp(context, authorization.requestId);
  return answerOf(await context.leases.alone(authorization.requestId, () => operateNow(context, kind, request)));
}

async function operateNow(context: Context, kind: OperationKind, request: Request): Promise<Recalled> {
  const intent = intentOf(kind, request);
  const operation: Operation = OPERATIONS[kind];
  const known = await ENTRIES.recall(context.database.query, intent);
  if (known?.refused || known?.entry?.stage === 'ended') return known;
  const authorization = await settleOthers(context, request.authorizationRequestId, intent.requestId);
  if (known?.entry) return { entry: await advance(context, known.entry, authorization), fresh: false };
  const ending = await operation.judge(intent, authorization, context);
  if (ending) return conclude(context, intent, ending);
  const current = (await findAuthorization(context, request.authorizationRequestId)) ?? authorization;
  const begins = { stage: 'sent', sentAt: context.now(), baseline: operation.baseline?.(current) ?? 0n } as const;
  const recalled = await ENTRIES.store(context.database.query, intent, begins);
  if (recalled.refused) return recalled;
  context.reach(`${kind} stored`);
  return { entry: await advance(context, recalled.entry, current, { fresh: recalled.fresh }), fresh: true };
}
