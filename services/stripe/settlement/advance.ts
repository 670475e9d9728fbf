import { declined, notPerformed } from '../../../platform/adapter/ending.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { ask, type Failure } from '../api/ask.ts';
import { ENTRIES, type Ending, type Entry } from '../ledger/entry.ts';
import { CAPTURE } from './capture.ts';
import { finish } from './finish.ts';
import { INCREMENT } from './increment.ts';
import type { Operation } from './operation.ts';
import { REFUND } from './refund.ts';
import { VOID } from './void.ts';

/** The operations that Stripe does, by kind. */
export const OPERATIONS = { capture: CAPTURE, void: VOID, increment: INCREMENT, refund: REFUND } as const;
export type OperationKind = keyof typeof OPERATIONS;

/**
 * Ends the open operations on an authorization, except those that Stripe has accepted, and reports them to core as
 * events. Returns the authorization as it is afterwards.
 */
export async function settleOthers(context: Context, authorizationRequestId: string, but = ''): Promise<Entry> {
  const { query } = context.database;
  for (const other of await ENTRIES.ofAuthorization(query, authorizationRequestId)) {
    const isOpen = other.stage !== 'ended' && other.answer !== Answer.ACCEPTED && other.requestId !== but;
    const authorization = isOpen && (await findAuthorization(context, authorizationRequestId));
    if (authorization) await advance(context, other, authorization, { tell: true });
  }
  const settled = await findAuthorization(context, authorizationRequestId);
  if (!settled) throw new Error('the authorization no longer exists');
  return settled;
}

/** The entry of an authorization or checkout, however it ended. */
export async function findAuthorization(context: Context, requestId: string): Promise<Entry | undefined> {
  const entry = await ENTRIES.find(context.database.query, requestId);
  return entry?.kind === 'authorization' || entry?.kind === 'checkout' ? entry : undefined;
}

/** Stripe may forget a key after 24 h; after that only a look finds out. */
const KEY_TRUSTED_MS = 23 * 60 * 60 * 1000;
const NEVER_RECEIVED = notPerformed('never_received', 'Stripe never received it.');

/**
 * Does a stored operation, or finds out what became of it: within a day by sending it again under its key, which acts
 * once, later by a look. `fresh`: it was never sent before. The authorization's lease must be held. Returns the
 * ended (or accepted) entry; throws OutcomeUnknown.
 */
export async function advance(
  context: Context,
  entry: Entry,
  authorization: Entry,
  { fresh = false, tell = false } = {},
): Promise<Entry> {
  const kind = entry.kind as OperationKind;
  const operation: Operation = OPERATIONS[kind];
  const sentMs = entry.sentAt?.getTime() ?? 0;
  let refusal: Ending = NEVER_RECEIVED;
  if (context.now().getTime() - sentMs <= KEY_TRUSTED_MS) {
    const sent = await ask(context, () => operation.send(context, entry, authorization));
    context.reach(`${kind} answered`);
    if (!sent.failure) return finish(context, entry, operation.read(sent.answer, entry, authorization), { tell });
    const { failure, doubt } = sent;
    refusal = refusalOf(failure);
    if (failure.kind === 'declined') return finish(context, entry, refusal, { tell });
    // An earlier request under this key may be in progress: then a look proves nothing.
    const mayAct = failure.kind === 'turned away' ? doubt || !fresh : failure.kind === 'unknown' && !failure.replayed;
    if (mayAct) throw new OutcomeUnknown('Stripe did not answer');
  }
  const { answer: found } = await ask(context, () => operation.look(context, entry, authorization));
  if (found === undefined) throw new OutcomeUnknown('Stripe did not answer');
  return finish(context, entry, found === 'absent' ? refusal : found, { tell });
}

/** Why an operation was not done that a look did not find. */
function refusalOf(failure: Failure): Ending {
  switch (failure.kind) {
    case 'declined':
      return declined(failure.code, failure.message);
    case 'refused':
    case 'turned away':
      return notPerformed(codeOf(failure.code), failure.message);
    case 'key reused':
      return NEVER_RECEIVED;
    case 'unknown':
      return notPerformed('processor_error', 'Stripe failed, and nothing was done.');
  }
}

/** Stripe's words for which the contract has its own. */
function codeOf(code: string): string {
  if (code === 'charge_expired_for_capture') return 'authorization_expired';
  if (code === 'charge_already_refunded') return 'amount_exceeds_capture';
  return code;
}
