import { v7 as uuidv7 } from 'uuid';
import { reserveHoldRelease } from '../books/reserve-release.ts';
import { settleHoldRelease } from '../books/settle-release.ts';
import { type Approved, identifierOf, isOk } from '../domain/operation.ts';
import type { Query } from '../storage/database.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { reconcilingSince } from '../storage/reconciling.ts';
import { findRelease, hasLateVoid, type ReleaseRow } from '../storage/release/release.ts';
import { ask } from './ask.ts';
import type { Kind, Named, Settlement } from './kind.ts';

/** What is given back of which hold, and why. */
export interface ReleaseFacts
  extends Named,
    Pick<ReleaseRow, 'merchantId' | 'holdRequestId' | 'reason'>,
    Partial<Pick<ReleaseRow, 'reported' | 'amountReleased' | 'processorReference'>> {
  /** The hold's identifier at the processor. */
  readonly authorizationRequestId: string;
}

/** Releases: asked for by a merchant, by the end of the hold's period, or to void an authorization that came too late. */
export const RELEASE: Kind<ReleaseFacts, 'ENDED' | 'DIFFERS'> = {
  table: 'release',
  operationOf: ({ reason }) => OPERATION[reason],
  holdOf: ({ holdRequestId }) => holdRequestId,
  find: findFacts,
  async call(processor, { authorizationRequestId, merchantId, processorAccount: account, ...release }) {
    if (release.reported) return reportedEnd(release);
    return processor.send('void', { requestId: identifierOf(release), authorizationRequestId, merchantId, account });
  },

  /** A merchant's release simply fails when the processor refuses. */
  mustHappen: ({ reason }) => reason !== 'RELEASED',
  readAnswer(facts, outcome) {
    const nothingLeft = !isOk(outcome) && NOTHING_LEFT.has(outcome.code);
    return nothingLeft && facts.reason !== 'RELEASED' ? DONE : outcome;
  },

  async settle(settlement, { requestId, holdRequestId, reason }, outcome, at) {
    const settled = await settleHoldRelease(settlement.books, { requestId, outcome, at });
    if (settled === 'DIFFERS') {
      settlement.log.error('contradicting_event', {
        requestId,
        holdRequestId,
        told: 'AMOUNT_RELEASED',
        kept: 'REMAINING',
      });
    }
    // The expiry sweep sends an expiry again by itself.
    const isLost = !isOk(outcome) && outcome.code === 'never_received';
    if (settled && isLost && reason === 'LATE') await voidLate(settlement, holdRequestId);
    return settled;
  },

  /**
   * Nobody but recovery sends the void of a late authorization, and only at its first look: afterwards it may have arrived. The processor
   * does not know what it did by itself under our identifier. While the database is being reconciled, nothing is voided.
   */
  async recover(asker, { requestId, inquiryCount }) {
    const release = await findFacts(asker.database.query, requestId);
    if (release?.reported) {
      await ask(asker, RELEASE, release);
      return 'DONE';
    }
    if (release?.reason === 'LATE' && (await reconcilingSince(asker.database.query))) return 'LATER';
    if (release?.reason !== 'LATE' || inquiryCount > 0) return 'INQUIRE';
    await ask(asker, RELEASE, release);
    return 'DONE';
  },
};

async function findFacts(query: Query, requestId: string) {
  const release = await findRelease(query, requestId);
  const hold = release && (await findHold(query, release.holdRequestId));
  return hold && { ...release, authorizationRequestId: identifierOf(hold) };
}

const OPERATION = { RELEASED: 'RELEASE', EXPIRED: 'EXPIRY', LATE: undefined } as const;

/** What the processor reported when it ended an authorization by itself. */
function reportedEnd({
  amountReleased,
  processorReference,
}: Pick<ReleaseFacts, 'amountReleased' | 'processorReference'>): Approved {
  const reference = processorReference ?? '';
  return { answer: 'APPROVED', reference, bankReference: '', amountReleased: amountReleased ?? undefined };
}

const DONE = { answer: 'APPROVED', reference: '', bankReference: '' } as const;

/** Error codes of VoidResponse (proto/holdfast/processor/v1) that say that nothing is left to give back: as good as done. */
const NOTHING_LEFT: ReadonlySet<string> = new Set([
  'authorization_expired',
  'authorization_not_found',
  'authorization_not_approved',
  'authorization_voided',
  'authorization_closed',
]);

/** Sees to it that the authorization of a failed hold is given back, once; recovery sends the void. */
export async function voidLate({ database, books, clock, log }: Settlement, holdRequestId: string): Promise<void> {
  if (await hasLateVoid(database.query, holdRequestId)) return;
  const at = clock();
  await reserveHoldRelease(books, { requestId: uuidv7(), holdRequestId, reason: 'LATE', at, inquireAt: at });
  log.warn('late_authorization', { requestId: holdRequestId });
}
