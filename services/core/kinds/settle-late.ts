import { type Facts, factsOf, isCheckout } from '../books/facts.ts';
import type { Told } from '../domain/contradiction.ts';
import { mustHappen } from '../domain/kinds.ts';
import { type FinalOutcome, isFinal, isOk, NEVER_RECEIVED, type Page } from '../domain/outcome.ts';
import { findSent } from '../storage/submission/find-sent.ts';
import { settle, settleFinal } from './perform.ts';
import { sendTo } from './send-to-processor.ts';
import type { Sender } from './sender.ts';

/** Names an operation that was sent. */
type Name = Pick<Facts, 'kind' | 'requestId'>;

/**
 * Settles an operation by the processor's statement after its call: an inquiry's answer, or an event. False = the
 * processor did not confirm it, so nothing was settled.
 */
export async function settleLate(
  sender: Sender,
  { kind, requestId }: Name,
  outcome: FinalOutcome,
  told: Told,
): Promise<boolean> {
  const facts = await factsOf(sender.database.query, kind, requestId);
  const confirmed = (await isDoubtful(sender, facts, outcome)) ? await confirm(sender, facts) : outcome;
  if (confirmed) await settle(sender, facts, confirmed, told);
  return confirmed !== undefined;
}

/**
 * Stores the page of a hold's customer that an inquiry has shown, unless it is known. Returns whether the hold waits
 * there now, or has its result.
 */
export async function learnPage(sender: Sender, requestId: string, page: Page): Promise<boolean> {
  const facts = await factsOf(sender.database.query, 'HOLD', requestId);
  if (facts.kind !== 'HOLD' || facts.checkoutUrlCiphertext != null) return false;
  if (facts.returnUrl == null && !facts.imported) return false;
  const shown = { answer: 'ACCEPTED', page } as const;
  const outcome = isSharedIdentifier(facts) ? await sendTo(sender.processors.of(facts), facts) : shown;
  const { is } = await settle(sender, facts, outcome);
  return is === 'OPENED' || is === 'SETTLED';
}

/**
 * An identifier that follows from an Idempotency-Key may have been used before a restore, by a call with other fields.
 * What was imported has the processor's own fields.
 */
function isSharedIdentifier({ processorRequestId, imported }: Facts): boolean {
  return processorRequestId != null && !imported;
}

/** Whether a result may be another call's. A processor that opened a page for the customer has compared the fields. */
async function isDoubtful({ database: { query } }: Sender, facts: Facts, outcome: FinalOutcome): Promise<boolean> {
  const { requestId } = facts;
  if (!isSharedIdentifier(facts) || outcome === NEVER_RECEIVED) return false;
  if (facts.kind === 'HOLD' && facts.checkoutUrlCiphertext != null) return false;
  if (isCheckout(facts) && !isOk(outcome)) return false;
  const sent = await findSent(query, requestId);
  return sent?.state !== 'OK' && sent?.state !== 'KO';
}

/**
 * The processor knows the identifier, so sending the request again does nothing: it returns this request's own result,
 * or that the identifier was used for something else. Undefined = it returned neither. A checkout has its page opened
 * again by recovery.
 */
async function confirm({ processors }: Sender, facts: Facts): Promise<FinalOutcome | undefined> {
  if (isCheckout(facts)) return undefined;
  const outcome = await sendTo(processors.of(facts), facts);
  return isFinal(outcome) ? outcome : undefined;
}

/**
 * Settles an operation by an operator's decision. An operation that must happen is never ended by a refusal, except by
 * this decision; the expiry sweep then sends the remaining amount again under a new identifier.
 */
export async function settleDecided(sender: Sender, { kind, requestId }: Name, outcome: FinalOutcome): Promise<void> {
  const facts = await factsOf(sender.database.query, kind, requestId);
  if (mustHappen(kind)) await settleFinal(sender, facts, outcome);
  else await settle(sender, facts, outcome);
}
