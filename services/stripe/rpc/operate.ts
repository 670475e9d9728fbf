import type { ResultInit } from '../../../platform/adapter/entry.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import type { Desk } from '../desk.ts';
import { intentOf } from '../ledger/entry.ts';
import { advance, findAuthorization, OPERATIONS, type OperationKind, settleOthers } from '../settlement/advance.ts';
import { resultOf } from '../settlement/ending.ts';
import { NOT_FOUND, type Operation } from '../settlement/operation.ts';
import { WAIT_MS } from './authorize.ts';
import { conclude, type Recalled, recall, recallOrStore } from './recall.ts';

/** A request about an authorization. */
type Request = { readonly authorizationRequestId: string };

/**
 * Does an operation on an authorization: alone, after all that came before it has ended; its intent is stored before
 * Stripe is called. A repeated identifier returns the same result. Throws OutcomeUnknown.
 */
export async function operate(desk: Desk, kind: OperationKind, request: Request): Promise<ResultInit> {
  const intent = intentOf(kind, request);
  const known = await recall(desk, intent);
  if (known?.refused) return known.refused;
  if (known?.entry?.stage === 'ended') return resultOf(known.entry);
  const authorization = await findAuthorization(desk, request.authorizationRequestId);
  if (!authorization) return answerOf(await conclude(desk, intent, NOT_FOUND));
  const turn = await desk.leases.run(authorization.requestId, WAIT_MS, () => operateNow(desk, kind, request));
  if (!turn) throw new OutcomeUnknown('other calls work on this authorization');
  return answerOf(turn.done);
}

async function operateNow(desk: Desk, kind: OperationKind, request: Request): Promise<Recalled> {
  const intent = intentOf(kind, request);
  const operation: Operation = OPERATIONS[kind];
  const known = await recall(desk, intent);
  if (known?.refused || known?.entry?.stage === 'ended') return known;
  const authorization = await settleOthers(desk, request.authorizationRequestId, intent.requestId);
  if (known?.entry) return { entry: await advance(desk, known.entry, authorization), fresh: false };
  const ending = await operation.judge(intent, authorization, desk);
  if (ending) return conclude(desk, intent, ending);
  const current = (await findAuthorization(desk, request.authorizationRequestId)) ?? authorization;
  const begins = { stage: 'sent', sentAt: desk.now(), baseline: operation.baseline?.(current) ?? 0n } as const;
  const recalled = await recallOrStore(desk, intent, begins);
  if (recalled.refused) return recalled;
  desk.reach(`${kind} stored`);
  return { entry: await advance(desk, recalled.entry, current, { fresh: recalled.fresh }), fresh: true };
}

function answerOf(recalled: Recalled): ResultInit {
  return recalled.refused ?? resultOf(recalled.entry);
}
