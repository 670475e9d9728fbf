import { ask } from '../api/ask.ts';
import type { Failure } from '../api/failure.ts';
import type { CrashPoint } from '../crash-points.ts';
import type { Desk } from '../desk.ts';
import type { Ending, Entry } from '../ledger/entry.ts';
import { declined, notPerformed } from './ending.ts';
import { finish } from './finish.ts';
import { OutcomeUnknown } from './unknown.ts';

/** A kind of operation on an authorization, as Stripe does it. One at a time is under way on each authorization. */
export interface Operation<T = unknown> {
  /** Sends it to Stripe, under the identifier as the idempotency key. */
  send(desk: Desk, entry: Entry, authorization: Entry): Promise<T>;
  /** How it ended when Stripe answered. */
  read(answer: T, entry: Entry, authorization: Entry, now: Date): { ending: Ending; refundId?: string };
  /**
   * Looks whether it was done: reads the objects it would have changed, never a search, which lags. `absent`: they are
   * as they were before it. `unclear`: they are neither as before nor as after.
   */
  look(
    desk: Desk,
    entry: Entry,
    authorization: Entry,
  ): Promise<{ ending: Ending; refundId?: string } | 'absent' | 'unclear'>;
  readonly answered: CrashPoint;
}

/** Stripe may forget a key after 24 h; from then on only a look tells. */
const KEY_TRUSTED_MS = 23 * 60 * 60 * 1000;

/**
 * Does a stored operation, or finds out what became of it: within a day by sending it again under its key, which acts
 * once, later by a look. `fresh`: it was never sent before. Answers the ended (or accepted) entry; throws OutcomeUnknown.
 */
export async function advance<T>(
  desk: Desk,
  operation: Operation<T>,
  entry: Entry,
  authorization: Entry,
  { fresh = false, tell = false } = {},
): Promise<Entry> {
  const sentMs = entry.sentAt?.getTime() ?? 0;
  if (desk.now().getTime() - sentMs > KEY_TRUSTED_MS) {
    const found = await lookAt(desk, operation, entry, authorization);
    return found === 'absent'
      ? finish(desk, entry, neverReceived(desk), { tell })
      : finish(desk, entry, found.ending, { ...found, tell });
  }
  const sent = await ask(() => operation.send(desk, entry, authorization), desk.patience);
  desk.reach(operation.answered);
  if (!sent.failure) {
    const { ending, ...found } = operation.read(sent.answer as T, entry, authorization, desk.now());
    return finish(desk, entry, ending, { ...found, tell });
  }
  const { failure, doubt } = sent;
  const refusal = refusalOf(failure, desk.now());
  if (failure.kind === 'declined' && refusal) return finish(desk, entry, refusal, { tell });
  if (failure.kind === 'busy' && fresh && !doubt && refusal) return finish(desk, entry, refusal, { tell });
  if (failure.kind === 'busy' || (failure.kind === 'unknown' && !failure.replayed)) {
    throw new OutcomeUnknown('Stripe did not answer');
  }
  const found = await lookAt(desk, operation, entry, authorization);
  if (found !== 'absent') return finish(desk, entry, found.ending, { ...found, tell });
  return finish(desk, entry, refusal ?? neverReceived(desk), { tell });
}

async function lookAt<T>(desk: Desk, operation: Operation<T>, entry: Entry, authorization: Entry) {
  const { answer: found } = await ask(() => operation.look(desk, entry, authorization), desk.patience);
  if (found === undefined) throw new OutcomeUnknown('Stripe did not answer');
  if (found === 'unclear') {
    desk.log.error('books differ', {
      requestId: entry.requestId,
      holdRequestId: authorization.requestId,
      kind: entry.kind,
    });
    throw new OutcomeUnknown('Stripe has done more than was asked of it here');
  }
  return found;
}

function refusalOf(failure: Failure, now: Date): Ending | undefined {
  switch (failure.kind) {
    case 'declined':
      return declined(now, failure.code, failure.message);
    case 'refused':
      return notPerformed(now, codeOf(failure.code), failure.message);
    case 'busy':
      return notPerformed(now, 'rate_limited', 'Stripe takes no more requests now.');
    case 'key reused':
      return undefined;
    case 'unknown':
      return notPerformed(now, 'processor_error', 'Stripe failed, and nothing was done.');
  }
}

/** Stripe's words for which the contract has its own. */
function codeOf(code: string): string {
  if (code === 'charge_expired_for_capture') return 'authorization_expired';
  if (code === 'charge_already_refunded') return 'amount_exceeds_capture';
  return code;
}

function neverReceived(desk: Desk): Ending {
  return notPerformed(desk.now(), 'never_received', 'Stripe never received it.');
}
