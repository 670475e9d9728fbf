/** Changes at the processor of what is known here are booked. */
import { NIL } from 'uuid';
import { drawId } from '../../../platform/draw-id.ts';
import type { ReadTakenBack, TakingBack } from '../books/take-back.ts';
import { BY_INQUIRY } from '../domain/contradiction.ts';
import { authorizationOf } from '../domain/kept-hold.ts';
import { isOk, NEVER_RECEIVED } from '../domain/outcome.ts';
import { endHold, noteEnd } from '../kinds/end-hold.ts';
import type { Sender } from '../kinds/sender.ts';
import { settleLate } from '../kinds/settle-late.ts';
import { readTakenBack } from '../processor/read-entries.ts';
import { findAuthorizationsAt, findHold } from '../storage/hold/read-holds.ts';
import { markImported } from '../storage/imported/import-marks.ts';
import { findSent } from '../storage/submission/find-sent.ts';
import { readAuthorizations } from '../storage/submission/read-submissions.ts';
import { isToBePlaced, notPlacedYet, Unable } from './unable.ts';
import type { UnknownEntry } from './unknown-entry.ts';

/** The operations by which an imported one may have come back. */
export const CHANGES = {
  CAPTURE: ['REVERSAL', 'REINSTATEMENT'],
  REFUND: ['REFUND_RETURN'],
  OCT: ['OCT_RETURN'],
} as const;

/** Books what has changed of something that is here. */
export function importChange(sender: Sender, entry: UnknownEntry): Promise<string> {
  const { kind, holdHere } = entry;
  if (kind === 'END') return importEnd(sender, entry);
  if (kind === 'RENEWAL') return settleRenewal(sender, entry);
  if (kind === 'REVERSAL') return importTakenBack(sender, CHANGES.CAPTURE, entry);
  return importTakenBack(sender, holdHere === null ? CHANGES.OCT : CHANGES.REFUND, entry);
}

/**
 * Settles a renewal that has no result here by what the processor says of it now. Throws Unable when it says nothing
 * final.
 */
export async function settleRenewal(
  sender: Sender,
  { processor, subjectHere, isOvertaken }: Pick<UnknownEntry, 'processor' | 'subjectHere' | 'isOvertaken'>,
): Promise<string> {
  const sent = await findSent(sender.database.query, subjectHere ?? NIL);
  if (!sent) throw new Unable('it is not here any more');
  const answer = await sender.processors.of({ processor }).inquire(sent);
  const outcome = answer.found === 'NEVER_SEEN' ? NEVER_RECEIVED : answer.found === 'DONE' ? answer.outcome : undefined;
  if (!outcome) throw new Unable(`the renewal ${sent.requestId} has no result yet: reconcile again later`);
  await settleLate(sender, sent, isOk(outcome) ? { ...outcome, isOvertaken } : outcome, BY_INQUIRY);
  return sent.requestId;
}

/**
 * Books the end of a hold at the processor, like its event: other lost operations were imported before, and the hold may
 * have another authorization since.
 */
async function importEnd(sender: Sender, { requestId, processor, holdHere }: UnknownEntry): Promise<string> {
  const { query } = sender.database;
  const holdRequestId = holdHere ?? NIL;
  const open = await findHold(query, holdRequestId);
  if (!open) throw new Unable('its hold is not here any more');
  if (isToBePlaced(open)) throw notPlacedYet(open);
  const { remaining: amount } = open;
  const [on] = await findAuthorizationsAt(query, [{ identifier: requestId, processor }]);
  const authorization = on?.authorization ?? authorizationOf(open);
  const ended = { requestId: holdRequestId, authorization, as: 'EXPIRED', amount, reference: '' } as const;
  const hold = await noteEnd(sender, ended, BY_INQUIRY);
  if (hold?.endedAs != null) await endHold(sender, hold, { imported: true });
  return holdRequestId;
}

/** Of what something came back. */
type TakenBack = Pick<UnknownEntry, 'merchantId' | 'processor' | 'holdHere' | 'subjectHere'>;

/**
 * Books the difference to the amount that has come back at the processor by now, as an operation of the fitting kind.
 * The import is marked first, so that an event that reports the same later is not booked again. Returns the requestId
 * of the operation that came back, or of its hold. Throws Unable when that much cannot come back.
 */
export async function importTakenBack(
  sender: Sender,
  kinds: readonly TakingBack['kind'][],
  { merchantId, processor, holdHere, subjectHere }: TakenBack,
): Promise<string> {
  const { books, clock, database, processors } = sender;
  const marked = [subjectHere ?? holdHere, holdHere].filter((requestId) => requestId !== null);
  const marks = marked.map((requestId) => ({ requestId, what: 'TAKEN_BACK', merchantId }) as const);
  await markImported(database.query, marks, clock());
  const readBack: ReadTakenBack = async (hold, subject) => {
    const authorizations = hold ? await readAuthorizations(database.query, hold.requestId) : [];
    return readTakenBack(processor, processors.of({ processor }), authorizations, subject);
  };
  for (const kind of kinds) {
    const became = await books.takeBack({
      requestId: drawId(),
      kind,
      holdRequestId: holdHere ?? undefined,
      subjectRequestId: subjectHere ?? undefined,
      amount: MOST,
      reference: '',
      readTakenBack: readBack,
      at: clock(),
    });
    if (became === 'TOO_MUCH') throw new Unable('more came back of it than is left of it here');
  }
  return subjectHere ?? holdHere ?? NIL;
}

/** More than any amount: the difference is booked. */
const MOST = 1_000_000_000_000n;
