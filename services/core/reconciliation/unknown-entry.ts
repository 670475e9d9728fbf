import { timestampDate } from '@bufbuild/protobuf/wkt';
import type pg from 'pg';
import { Answer, type Entry } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { queryOn } from '../storage/open-pool.ts';
import { UNKNOWN_ENTRIES } from './ledger-queries.ts';

/** An entry of a processor's books that is unknown here: what the contract says of it, and what it means here. */
export interface UnknownEntry
  extends Pick<Entry, 'requestId' | 'merchantId' | 'account' | 'terminalId' | 'userId' | 'tokenId' | 'memo'>,
    Pick<Entry, 'operationRequestId' | 'merchantReference' | 'amount' | 'currency'>,
    Pick<Entry, 'refunded' | 'captured' | 'voided' | 'incremented'> {
  /** A name of PROCESSORS. */
  readonly processor: string;
  readonly kind: string;
  /** UNSPECIFIED = an open checkout. */
  readonly answer: string;
  readonly authorizationRequestId: string | null;
  /** Of a refund: the capture's identifier. */
  readonly captureRequestId: string | null;
  readonly isMerchantKnown: boolean;
  /** Of a capture: nothing is left of its authorization, and something was given back. */
  readonly closesAuthorization: boolean;
  /** Taken back by the card scheme: of a capture, or of a hold and none of its captures. */
  readonly takenBack: bigint;
  readonly actedAt: Date;
  /** What is unknown of a capture or hold that is known here: what was taken back of it, or that it has ended. */
  readonly changeHere: 'REVERSAL' | 'END' | null;
  /** The requestId of that capture. */
  readonly captureHere: string | null;
  /** The requestId of that hold, or the capture's. */
  readonly holdHere: string | null;
}

/** Reads the copy of the books: authorizations first, then what depends on them, each in the order of time. */
export async function readUnknown(client: pg.Client): Promise<UnknownEntry[]> {
  const rows = await queryOn(client)<UnknownEntry>({ name: '', text: UNKNOWN_ENTRIES }, []);
  return rows.map((row) => ({
    ...row,
    kind: row.changeHere ?? row.kind,
    // A sum of captures is a numeric, which comes as text.
    takenBack: BigInt(row.takenBack),
    actedAt: row.actedAt ?? new Date(),
  }));
}

/** An authorization as a page of the books has it. */
export function unknownAuthorization(processor: string, entry: Entry): UnknownEntry {
  return {
    ...entry,
    processor,
    kind: 'AUTHORIZATION',
    answer: Answer[entry.answer],
    authorizationRequestId: null,
    isMerchantKnown: true,
    closesAuthorization: false,
    takenBack: entry.refunded + entry.reversed,
    actedAt: entry.actedAt ? timestampDate(entry.actedAt) : new Date(),
    changeHere: null,
    captureHere: null,
    holdHere: null,
  };
}

/** One line about an entry. */
export function lineOf(entry: UnknownEntry): string {
  const { kind, requestId, processor, answer, amount, currency, merchantId, userId, merchantReference, actedAt } =
    entry;
  const about = [userId && `user ${userId}`, merchantReference && `reference ${JSON.stringify(merchantReference)}`];
  const what = answer === 'UNSPECIFIED' ? 'open checkout' : [kind, answer].join(' ').toLowerCase();
  const whose = [merchantId || 'nobody', ...about, actedAt.toISOString()].filter(Boolean).join(', ');
  return `${what} ${requestId} at ${processor}: ${amount} ${currency} for ${whose}`.replace(/ +/g, ' ');
}
