import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { CrashPoint } from '../crash-points.ts';
import type { Desk } from '../desk.ts';
import type { Ending, Entry, Intent } from '../ledger/entry.ts';
import { notPerformed } from '../settlement/ending.ts';
import { advance, type Operation } from '../settlement/operation.ts';
import {
  advanceKnown,
  findAuthorization,
  OPERATIONS,
  type OperationKind,
  settleOthers,
} from '../settlement/settle-others.ts';
import { OutcomeUnknown } from '../settlement/unknown.ts';
import { WAIT_MS } from './authorize.ts';
import { conclude, type Recalled, recall, recallOrStore } from './recall.ts';
import { type ResultInit, resultOf } from './result.ts';

/** How an operation on an authorization goes. */
export interface Plan {
  readonly intent: Intent & { readonly kind: OperationKind; readonly authorizationRequestId: string };
  readonly stored: CrashPoint;
  /** Answers the authorization when it can be worked on, or how the operation ends without Stripe. */
  judge(authorization: Entry): Promise<Ending | undefined>;
  /** What is stored with the intent, to tell later whether it was done. */
  baseline(authorization: Entry): bigint;
}

/**
 * Does an operation on an authorization: alone, after all that came before it has ended; its intent is stored before
 * Stripe is called. The same identifier answers the same. Throws OutcomeUnknown.
 */
export async function operate(desk: Desk, plan: Plan): Promise<ResultInit> {
  const { intent } = plan;
  const known = await recall(desk, intent);
  if (known?.refused) return known.refused;
  if (known?.entry?.stage === 'ended') return resultOf(known.entry);
  const authorization = await findAuthorization(desk, intent.authorizationRequestId);
  if (!authorization) return answerOf(await conclude(desk, intent, notFound(desk)));
  const turn = await desk.leases.run(authorization.requestId, WAIT_MS, () => operateNow(desk, plan));
  if (!turn) throw new OutcomeUnknown('other calls work on this authorization');
  return answerOf(turn.done);
}

async function operateNow(desk: Desk, plan: Plan): Promise<Recalled> {
  const { intent, stored } = plan;
  const known = await recall(desk, intent);
  if (known?.refused || known?.entry?.stage === 'ended') return known;
  const authorization = await settleOthers(desk, intent.authorizationRequestId, intent.requestId);
  if (known?.entry) return { entry: await advanceKnown(desk, known.entry, authorization), fresh: false };
  const ending = await plan.judge(authorization);
  if (ending) return conclude(desk, intent, ending);
  const current = (await findAuthorization(desk, intent.authorizationRequestId)) ?? authorization;
  const begins = { stage: 'sent', sentAt: desk.now(), baseline: plan.baseline(current) } as const;
  const recalled = await recallOrStore(desk, intent, begins);
  if (recalled.refused) return recalled;
  desk.reach(stored);
  const operation = OPERATIONS[intent.kind] as Operation;
  const entry = await advance(desk, operation, recalled.entry, current, { fresh: recalled.fresh });
  return { entry, fresh: true };
}

/** Why nothing can be done with an authorization, or undefined. */
export function unusable(desk: Desk, authorization: Entry, intent: Intent): Ending | undefined {
  const isPlaced = authorization.stage === 'ended' && authorization.answer === Answer.APPROVED;
  if (!isPlaced) return notFound(desk);
  const { merchantId, account, currency } = authorization;
  const isOfAccount = intent.account === '' || intent.account === account;
  if (merchantId !== intent.merchantId || !isOfAccount || currency !== intent.currency) {
    const message = 'Merchant, account or currency are not those of the authorization.';
    return notPerformed(desk.now(), 'authorization_mismatch', message);
  }
  return undefined;
}

/** That Stripe ended an authorization by itself, or undefined. */
export function endedAlready(desk: Desk, { endedAt, endedHow }: Entry): Ending | undefined {
  if (endedAt === null) return undefined;
  return endedHow === EXPIRED
    ? notPerformed(desk.now(), 'authorization_expired', 'The authorization has ended.')
    : notPerformed(desk.now(), 'authorization_voided', 'The authorization was cancelled at Stripe.');
}
const EXPIRED = 1;

function notFound(desk: Desk): Ending {
  return notPerformed(desk.now(), 'authorization_not_found', 'There is no such authorization.');
}

function answerOf(recalled: Recalled): ResultInit {
  return recalled.refused ?? resultOf(recalled.entry);
}
