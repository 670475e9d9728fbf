import assert from 'node:assert/strict';
import { remainingOf } from '../../../platform/adapter/authorization.ts';
import { approved } from '../../../platform/adapter/ending.ts';
import { resultOf as formOf, type ResultInit } from '../../../platform/adapter/entry.ts';
import { book, tellEnd } from '../../../platform/adapter/postgres/books.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { doneOf } from '../../../platform/adapter/postgres/entries.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { ENTRIES, type Entry, type State } from '../ledger/entry.ts';
import { guaranteedUntil } from './guarantee.ts';

/** How an operation ended, or that Adyen has taken it. */
export type Ending = Partial<State> & Pick<State, 'answer'>;

/** Done. */
export const APPROVED: Ending = approved();

/**
 * Stores how an operation ended, with what it changed of its authorization and capture. `tell`: it is reported to core,
 * because no call returns it. Returns the entry as it is then. The authorization, or the entry itself, must be locked,
 * and the operation must not have been done before.
 */
export async function settle(context: Context, query: Query, entry: Entry, ending: Ending, { tell = false } = {}) {
  const isApproved = ending.answer === Answer.APPROVED;
  const isFinal = ending.answer !== Answer.ACCEPTED;
  const actedAt = context.now();
  const expiresAt = isApproved && PROLONGS.has(entry.kind) ? new Date(actedAt.getTime() + context.holdMs) : null;
  const expectedBy = isFinal ? null : new Date((entry.sentAt ?? actedAt).getTime() + context.resultMs);
  const { pspReference } = { ...entry, ...ending };
  const reference = isApproved || !isFinal ? pspReference : '';
  const released = isApproved ? await releasedBy(query, { ...entry, ...ending }) : 0n;
  const known = { actedAt, expiresAt, expectedBy, dueAt: null, pspReference, reference, released };
  const change = { ...ending, ...known, ...(isFinal && FORGOTTEN) };
  const ended = await ENTRIES.update(query, 'request_id = $1', [entry.requestId], change);
  assert(ended, 'the entry is in the ledger');
  await book(query, ended);
  if (tell) await tellCore(context, query, ended);
  return ended;
}

/** What was kept of a customer for requests that are not made any more. */
const FORGOTTEN = { browser: null, action: null, redirectResult: '' };

const PROLONGS: ReadonlySet<Entry['kind']> = new Set(['authorization', 'extension']);

/**
 * What an approved operation gave back. There is one capture, and Adyen gives back what it leaves. A void that closed
 * the page of an authorization gave nothing back.
 */
async function releasedBy(query: Query, entry: Entry): Promise<bigint> {
  const { kind, authorizationRequestId } = entry;
  if (kind !== 'capture' && kind !== 'void') return 0n;
  const authorization = await ENTRIES.lock(query, authorizationRequestId ?? '');
  assert(authorization, 'an operation is about an authorization that is in the ledger');
  if (authorization.answer !== Answer.APPROVED) return 0n;
  return remainingOf(authorization) - (kind === 'capture' ? doneOf(entry) : 0n);
}

/** Reports how an entry ended. */
export async function tellCore(context: Context, query: Query, entry: Entry): Promise<void> {
  await tellEnd(query, entry, resultOf(context, entry));
  context.onEvent();
}

type Adapting = Pick<Context, 'adjustments' | 'guaranteeDays' | 'pages'>;

/** The contract's form of how an entry ended. */
export function resultOf({ adjustments, guaranteeDays, pages }: Adapting, entry: Entry): ResultInit {
  const until = guaranteedUntil(entry, adjustments, guaranteeDays);
  const page = hasPage(entry) && pages && { url: pages.of(entry.requestId), expiresAt: entry.pageEndsAt };
  return formOf({
    ...entry,
    page: page || undefined,
    guaranteedUntil: until,
    capabilities: capabilitiesOf(adjustments),
  });
}

/** Whether its customer can do something at its page. */
const hasPage = ({ stage, answer }: Entry) => answer === Answer.ACCEPTED && stage !== '' && stage !== 'pending';

/** One capture, which gives the rest back; what was authorised as PreAuth can be adjusted. */
export function capabilitiesOf(adjustments: boolean) {
  const adjusted = { increments: adjustments, extension: adjustments, partialRelease: adjustments };
  return { severalCaptures: false, ...adjusted, refunds: true };
}
