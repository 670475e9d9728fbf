import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Desk } from '../desk.ts';
import { type Entry, entriesOf, findEntry, type Kind } from '../ledger/entry.ts';
import { CAPTURE } from './capture.ts';
import { INCREMENT } from './increment.ts';
import { advance, type Operation } from './operation.ts';
import { REFUND } from './refund.ts';
import { VOID } from './void.ts';

/** The operations that Stripe does, by kind. */
export const OPERATIONS = { capture: CAPTURE, void: VOID, increment: INCREMENT, refund: REFUND } as const;
export type OperationKind = keyof typeof OPERATIONS;

/** Goes on with an operation of which it is not known what became of it. Its authorization's lease must be held. */
export function advanceKnown(desk: Desk, entry: Entry, authorization: Entry, tell = false): Promise<Entry> {
  const operation = OPERATIONS[entry.kind as OperationKind] as Operation;
  return advance(desk, operation, entry, authorization, { tell });
}

/**
 * Ends what is not ended about an authorization, but what Stripe has accepted; core hears of it by events. Answers the
 * authorization as it is then.
 */
export async function settleOthers(desk: Desk, authorizationRequestId: string, but = ''): Promise<Entry> {
  const { query } = desk.database;
  for (const other of await entriesOf(query, authorizationRequestId)) {
    const isOpen = other.stage !== 'ended' && other.answer !== Answer.ACCEPTED && other.requestId !== but;
    const authorization = isOpen && (await findAuthorization(desk, authorizationRequestId));
    if (authorization) await advanceKnown(desk, other, authorization, true);
  }
  const settled = await findAuthorization(desk, authorizationRequestId);
  if (!settled) throw new Error('the authorization is not there any more');
  return settled;
}

const AUTHORIZATIONS: readonly Kind[] = ['authorization', 'checkout'];

/** The entry of an authorization or checkout, however it ended. */
export async function findAuthorization(desk: Desk, requestId: string): Promise<Entry | undefined> {
  const entry = await findEntry(desk.database.query, requestId);
  return entry && AUTHORIZATIONS.includes(entry.kind) ? entry : undefined;
}
