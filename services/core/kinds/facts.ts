import assert from 'node:assert/strict';
import type { Clock } from '../../../platform/clock.ts';
import type { Log } from '../../../platform/log.ts';
import type { Books } from '../books/books.ts';
import type { SettledFields } from '../books/operation-result.ts';
import type { HoldFields } from '../books/settle-gathered.ts';
import type { Reach } from '../domain/crash-points.ts';
import type { SentKind } from '../domain/kinds.ts';
import type { Processors } from '../processor/processors.ts';
import type { Cipher } from '../storage/cipher.ts';
import type { Database, Query } from '../storage/database.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { isImported } from '../storage/imported/import-marks.ts';
import type { NewRow } from '../storage/input-columns.ts';
import { findSubmission } from '../storage/submission/read-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';

/** What sending and settling work with. */
export interface Sender {
  readonly database: Database;
  readonly books: Books;
  readonly clock: Clock;
  readonly log: Log;
  readonly processors: Processors;
  readonly cipher: Cipher;
  readonly reach: Reach;
}

/** What all facts have: where it is sent, under which identifier (null or absent = the requestId). */
type Named = NewRow<SubmissionRow, 'requestId' | 'processor' | 'processorAccount' | 'processorRequestId'> & {
  /** It was imported from the processor's books. */
  readonly imported?: boolean | undefined;
};

/** What placing a hold depends on. Without a tokenId it is a checkout, whose page is known if its address is. */
export type HoldFacts = Named &
  HoldFields &
  NewRow<HoldRow, 'tokenId' | 'checkoutUrlCiphertext' | 'description' | 'expectedCaptureAt' | 'idKey'> & {
    readonly kind: 'HOLD';
    readonly customerPresent: boolean;
  };

/** What a submission depends on. A void that the processor did by itself has what it reported of it. */
export type SubmissionFacts = Named &
  SettledFields &
  NewRow<SubmissionRow, 'kind' | 'tokenId' | 'amountReleased' | 'processorReference'> & {
    /** The hold that it is on. */
    readonly hold?: HoldRow | undefined;
    /** Of a refund: what names its capture. */
    readonly capture?: Pick<SubmissionRow, 'requestId' | 'processorRequestId'> | undefined;
  };

/** What everything that is done with a hold depends on. */
export function onHold(hold: HoldRow) {
  const { requestId: holdRequestId, merchantId, currency, processor, processorAccount } = hold;
  return { holdRequestId, hold, merchantId, currency, processor, processorAccount };
}

/** What is sent and settled depends on these; they never change. */
export type Facts = HoldFacts | SubmissionFacts;

/** Reads the facts of what is stored. */
export async function factsOf(query: Query, kind: SentKind, requestId: string): Promise<Facts> {
  const imported = await isImported(query, requestId, 'OPERATION');
  if (kind === 'HOLD') {
    const hold = await findHold(query, requestId);
    assert(hold, 'a hold that is settled was stored');
    return { ...hold, kind, imported };
  }
  const submission = await findSubmission(query, requestId);
  assert(submission, 'a submission that is settled was stored');
  if (submission.holdRequestId == null) return { ...submission, imported };
  const { holdRequestId, captureRequestId } = submission;
  const capture = captureRequestId == null ? undefined : await findSubmission(query, captureRequestId);
  return { ...submission, imported, capture, hold: await findHold(query, holdRequestId) };
}
