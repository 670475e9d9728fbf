import { type Facts, factsOf, isCheckout } from '../books/facts.ts';
import type { Told } from '../domain/contradiction.ts';
import { mustHappen } from '../domain/kinds.ts';
import { type FinalOutcome, isFinal, isOk, NEVER_RECEIVED } from '../domain/outcome.ts';
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
 * An identifier that follows from an Idempotency-Key may have been used before a restore, by a call with other fields
 * whose result this is. What was imported has the processor's own fields, and a processor that has opened a page for the
 * customer has compared them.
 */
async function isDoubtful({ database: { query } }: Sender, facts: Facts, outcome: FinalOutcome): Promise<boolean> {
  const { requestId, processorRequestId, imported } = facts;
  if (processorRequestId == null || imported || outcome === NEVER_RECEIVED) return false;
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
