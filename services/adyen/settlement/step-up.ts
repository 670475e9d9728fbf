/**
 * An authorization whose customer takes part: Adyen asks for the customer's browser, so a page of ours is first. Nothing
 * is sent to Adyen before the customer has gone on from there.
 */
import { createHash } from 'node:crypto';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { mismatch } from '../../../platform/adapter/authorization.ts';
import { approved, notPerformed } from '../../../platform/adapter/ending.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { Answer, type AuthorizeRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { type Answer as AdyenAnswer, KEY_REMEMBERED_MS } from '../api/client.ts';
import { type Browser, ENTRIES, type Entry, type Intent, type State } from '../ledger/entry.ts';
import { ask, endingOf } from './ask.ts';
import { readAnswer, requestOf } from './request.ts';
import { type Ending, settle } from './settle.ts';

/** Its customer did not finish in time. */
export const EXPIRED = notPerformed('authentication_expired', 'The customer was not authenticated in time.');
const CANCELLED = notPerformed('authentication_cancelled', 'The merchant cancelled the authentication.');

/** Whether an authorization has a step-up that has not ended. */
export const isStepUp = ({ stage, answer }: Pick<Entry, 'stage' | 'answer'>): boolean =>
  stage !== '' && answer === Answer.ACCEPTED;

/** No page stays open longer. */
const PAGE_LONGEST_MS = 24 * 60 * 60 * 1000;
/** A customer who went on at the last moment has this long at the issuer. */
const AT_ISSUER_MS = 10 * 60 * 1000;
/** An answer is waited for this long before Adyen is asked again in the background. */
const ASKED_AGAIN_MS = 10_000;

const after = (date: Date, ms: number) => new Date(date.getTime() + ms);
const later = (one: Date, other: Date) => (one > other ? one : other);

/** A new authorization that waits for its customer on the page. */
export function waitingForCustomer(
  now: Date,
  { actionExpiresAt }: Partial<Pick<AuthorizeRequest, 'actionExpiresAt'>>,
): Partial<State> {
  const askedMs = actionExpiresAt ? timestampMs(actionExpiresAt) : Number.POSITIVE_INFINITY;
  const end = new Date(Math.min(askedMs, now.getTime() + PAGE_LONGEST_MS));
  return { answer: Answer.ACCEPTED, stage: 'page', actedAt: now, pageEndsAt: end, expectedBy: end, dueAt: end };
}

const OPEN_STEP_UP = `request_id = $1 AND answer = ${Answer.ACCEPTED}`;

/**
 * Stores what is to be sent of the customer's browser: the first one that comes while the page is open. Returns whether
 * it was stored.
 */
export async function keepBrowser({ database, now }: Context, entry: Entry, browser: Browser): Promise<boolean> {
  const at = now();
  const expectedBy = later(entry.pageEndsAt ?? at, after(at, AT_ISSUER_MS));
  const change = { stage: 'sent', browser, sentAt: at, expectedBy, dueAt: after(at, ASKED_AGAIN_MS) } as const;
  const where = `${OPEN_STEP_UP} AND stage = 'page' AND page_ends_at > $2`;
  return (await ENTRIES.update(database.query, where, [entry.requestId, at], change)) !== undefined;
}

/** Stores with what the customer came back from the issuer; the latest counts. Adyen is asked what it says. */
export async function keepReturn({ database, now }: Context, requestId: string, redirectResult: string): Promise<void> {
  const change = { stage: 'returned', redirectResult, dueAt: after(now(), ASKED_AGAIN_MS) } as const;
  await ENTRIES.update(database.query, `${OPEN_STEP_UP} AND stage <> 'pending'`, [requestId], change);
}

/**
 * Takes an open step-up as far as it goes without the customer, and reports its end. Returns the entry as it is then;
 * where Adyen does not answer, as it was.
 */
export async function advanceStepUp(context: Context, entry: Entry, fresh: boolean): Promise<Entry> {
  try {
    const step = await nextStep(context, entry, fresh);
    return step ? await store(context, entry, step) : entry;
  } catch (error) {
    if (error instanceof OutcomeUnknown) return entry;
    throw error;
  }
}

/** How it goes on; undefined = it waits. Throws OutcomeUnknown. */
async function nextStep(context: Context, entry: Entry, fresh: boolean): Promise<Ending | undefined> {
  switch (entry.stage) {
    case 'sent':
      return pay(context, entry, fresh);
    case 'returned':
      return askHowItEnded(context, entry);
    case 'pending':
      return undefined;
    default:
      return entry.expectedBy !== null && entry.expectedBy <= context.now() ? EXPIRED : undefined;
  }
}

/** Asks Adyen for the payment, under one key however often: it is made once. */
async function pay(context: Context, entry: Entry, fresh: boolean): Promise<Ending | undefined> {
  const isForgotten = context.now().getTime() - (entry.sentAt?.getTime() ?? 0) > KEY_REMEMBERED_MS;
  if (isForgotten) return undefined;
  const asked = await ask(context, requestOf(context, entry, undefined), !fresh);
  const answer = asked.answered.is === 'answered' ? asked.answered.answer : undefined;
  if (answer?.resultCode === 'RedirectShopper' && answer.action) return atIssuer(entry, answer, answer.action);
  return pendingOr(endingOf(entry, asked));
}

function atIssuer({ expectedBy }: Entry, { pspReference }: AdyenAnswer, action: NonNullable<Entry['action']>): Ending {
  return { answer: Answer.ACCEPTED, stage: 'redirected', action, pspReference, dueAt: expectedBy };
}

const pendingOr = (ending: Ending): Ending =>
  ending.answer === Answer.ACCEPTED ? { ...ending, stage: 'pending' } : ending;

/**
 * Asks Adyen how it ended for a customer who came back. What Adyen says of another payment, or refuses to look at, is
 * not believed: the customer may come back with something else. What it does not say of any payment is notified.
 */
async function askHowItEnded(context: Context, entry: Entry): Promise<Ending> {
  const { requestId, redirectResult } = entry;
  const key = createHash('sha256').update(`${requestId} ${redirectResult}`).digest('hex');
  const request = { path: '/payments/details', body: { details: { redirectResult } }, key };
  const { answered } = await ask(context, request, false);
  if (answered.is === 'rejected') return back(context, entry, answered.code);
  if (answered.is !== 'answered') throw new OutcomeUnknown('Adyen did not answer');
  const { answer } = answered;
  const isOwn = isAbout(entry, answer);
  if (isOwn === false) return back(context, entry, 'another payment');
  if (isOwn === undefined) return { answer: Answer.ACCEPTED, stage: 'pending' };
  if (answer.resultCode === 'RedirectShopper' && answer.action) return atIssuer(entry, answer, answer.action);
  const ending = readAnswer(entry, answer);
  if (!ending) throw new OutcomeUnknown('Adyen did not say how it ended');
  return pendingOr(ending);
}

/** Whether an answer is about the payment of an entry; undefined = it does not say. */
function isAbout(entry: Entry, { merchantReference, pspReference }: AdyenAnswer): boolean | undefined {
  if (merchantReference !== '') return merchantReference === entry.requestId;
  return entry.pspReference === '' ? undefined : pspReference === entry.pspReference;
}

function back({ log, now }: Context, { requestId, action, browser, expectedBy }: Entry, reason: string): Ending {
  log.warn('return refused', { requestId, reason });
  const answer = Answer.ACCEPTED;
  // A ledger that was restored may have lost where the customer was.
  if (!action && browser) {
    return { answer, stage: 'sent', redirectResult: '', dueAt: after(now(), ASKED_AGAIN_MS) };
  }
  return { answer, stage: action ? 'redirected' : 'page', redirectResult: '', dueAt: expectedBy };
}

/** Stores a step, unless the step-up went on, or ended, meanwhile. Returns the entry as it is then. */
function store(context: Context, entry: Entry, step: Ending): Promise<Entry> {
  return context.database.transaction(async (query) => {
    const current = await ENTRIES.lock(query, entry.requestId);
    const isSame = current?.stage === entry.stage && current.redirectResult === entry.redirectResult;
    if (!current || !isStepUp(current) || !isSame) return current ?? entry;
    if (step.answer !== Answer.ACCEPTED || step.stage === 'pending') {
      return settle(context, query, current, step, { tell: true });
    }
    return (await ENTRIES.update(query, 'request_id = $1', [entry.requestId], step)) ?? current;
  });
}

const CLOSED: ReadonlySet<string> = new Set([EXPIRED.errorCode, CANCELLED.errorCode]);

/**
 * How a void ends of an authorization without a result, or whose page was closed: it closes the page; undefined where
 * Adyen has to be waited for. No call cancels a payment whose customer is at the issuer: what Adyen authorises all the
 * same is reported, and core voids it. The authorization must be locked.
 */
export async function closePage(
  context: Context,
  query: Query,
  intent: Intent,
  authorization: Entry,
): Promise<Ending | undefined> {
  if (intent.kind !== 'void' || mismatch(authorization, intent)) return undefined;
  if (CLOSED.has(authorization.errorCode)) return approved();
  const isWaiting = authorization.stage === 'page' || authorization.stage === 'redirected';
  if (!isStepUp(authorization) || !isWaiting) return undefined;
  await settle(context, query, authorization, CANCELLED, { tell: true });
  return approved();
}
