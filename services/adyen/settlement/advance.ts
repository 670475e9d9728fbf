import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { errorFields } from '../../../platform/log.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { KEY_REMEMBERED_MS } from '../api/client.ts';
import { ENTRIES, type Entry, takeUnanswered } from '../ledger/entry.ts';
import { ask, endingOf } from './ask.ts';
import { requestOf } from './request.ts';
import { settle } from './settle.ts';
import { advanceStepUp, isStepUp } from './step-up.ts';

/** How an operation is sent. */
interface Sending {
  /** It was never sent before. */
  readonly fresh?: boolean;
  /** Reports the result to core, because no call of core's returns it. */
  readonly tell?: boolean;
}

/**
 * Sends a stored operation that Adyen has not answered, or sends it again: always under its identifier as the
 * idempotency key, so it acts once. Calls at the same time share one request. Returns the ended or accepted entry;
 * throws OutcomeUnknown. An authorization whose customer takes part goes as far as it can without the customer, is
 * reported in any case, and stays as it is where Adyen does not answer.
 */
export function advance(context: Context, requestId: string, sending: Sending = {}): Promise<Entry> {
  const known = context.sending.get(requestId);
  if (known) return known;
  const work = perform(context, requestId, sending).finally(() => context.sending.delete(requestId));
  context.sending.set(requestId, work);
  return work;
}

async function perform(context: Context, requestId: string, { fresh = false, tell = false }: Sending): Promise<Entry> {
  const { query } = context.database;
  const entry = await ENTRIES.find(query, requestId);
  if (!entry) throw new OutcomeUnknown('the entry is not to be read');
  if (isStepUp(entry)) return advanceStepUp(context, entry, fresh);
  if (entry.answer !== Answer.UNSPECIFIED) return entry;
  // Adyen offers no way to look, so what it has forgotten cannot be found out any more: an operator decides.
  if (context.now().getTime() - (entry.sentAt?.getTime() ?? 0) > KEY_REMEMBERED_MS) {
    throw new OutcomeUnknown('Adyen may have forgotten the key');
  }
  const authorization = entry.authorizationRequestId
    ? await ENTRIES.find(query, entry.authorizationRequestId)
    : undefined;
  const ending = endingOf(entry, await ask(context, requestOf(context, entry, authorization), !fresh));
  return context.database.transaction(async (query) => {
    await ENTRIES.lock(query, entry.authorizationRequestId ?? requestId);
    const current = (await ENTRIES.lock(query, requestId)) ?? entry;
    // A notification was faster than the answer.
    return current.answer === Answer.UNSPECIFIED ? settle(context, query, current, ending, { tell }) : current;
  });
}

const AT_ONCE = 8;

/** Sends again what Adyen has not answered and is due, and ends step-ups whose time is over. */
export async function sendAgain(context: Context): Promise<void> {
  const due = await takeUnanswered(context.database.query, context.now(), AT_ONCE);
  const again = async (requestId: string) => {
    try {
      await advance(context, requestId, { tell: true });
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) context.log.error('sending again failed', errorFields(error));
    }
  };
  await Promise.all(due.map(again));
}
