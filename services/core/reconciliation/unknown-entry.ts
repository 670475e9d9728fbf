import { timestampDate } from '@bufbuild/protobuf/wkt';
import type pg from 'pg';
import { Answer, type Entry } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { queryOn } from '../storage/open-pool.ts';

/** An entry of a processor's books that is unknown here: what the contract says of it, and what it means here. */
export interface UnknownEntry
  extends Pick<Entry, 'requestId' | 'merchantId' | 'account' | 'terminalId' | 'userId' | 'tokenId' | 'memo'>,
    Pick<Entry, 'operationRequestId' | 'merchantReference' | 'amount' | 'currency'>,
    Pick<Entry, 'refunded' | 'captured' | 'voided' | 'incremented'> {
  /** A name of PROCESSORS. */
  readonly processor: string;
  /**
   * An EntryKind; RENEWAL for an AUTHORIZATION that renews another one; or an unknown change of a known operation:
   * REVERSAL = a capture or hold was taken back, RETURN = a refund or an OCT came back, END = a hold has ended, RENEWAL =
   * a renewal has its result.
   */
  readonly kind: string;
  /** UNSPECIFIED = an open checkout. */
  readonly answer: string;
  /** Of a renewal: the authorization that it renews. */
  readonly authorizationRequestId: string | null;
  /** The first authorization of the chain that it belongs to, or itself. */
  readonly chain: string;
  /** How many authorizations of the chain come before; a void of one that was replaced comes after what replaced it. */
  readonly generation: number;
  /** Of a renewal: its hold did not count on it, because something else came first. */
  readonly isOvertaken: boolean;
  /** Of a void: it gave back what a renewal had replaced, or a renewal that was overtaken. */
  readonly isLate: boolean;
  /** Of a refund: the capture's identifier. */
  readonly captureRequestId: string | null;
  readonly isMerchantKnown: boolean;
  /** Of a capture: the last of its authorization, of which nothing is left, and no void gave the rest back. */
  readonly isFinal: boolean;
  /** The amount that came back: of a capture, of a hold and none of its captures, of a refund or of an OCT. */
  readonly takenBack: bigint;
  readonly actedAt: Date;
  /** True for a change of a known operation; false = the entry itself is unknown. */
  readonly isHere: boolean;
  /** Of a change: the hold; null = of an OCT. */
  readonly holdHere: string | null;
  /** Of a change: the capture, refund or OCT; null = of a hold alone. */
  readonly subjectHere: string | null;
}

/**
 * Reads the copy of the books: authorizations first, then what depends on them, each in the order of time. Everything of
 * a renewed authorization that the next one follows from comes before that one.
 */
export function readUnknown(client: pg.Client): Promise<UnknownEntry[]> {
  return queryOn(client)({ name: '', text: READ_UNKNOWN }, []);
}

const READ_UNKNOWN = `select * from unknown_entry
  order by turn > 6, generation, turn, acted_at, kind = 'VOID', request_id`;

/** An authorization as a page of the books has it. */
export function unknownAuthorization(processor: string, entry: Entry): UnknownEntry {
  return {
    ...entry,
    processor,
    kind: 'AUTHORIZATION',
    answer: Answer[entry.answer],
    authorizationRequestId: null,
    chain: entry.requestId,
    generation: 0,
    isOvertaken: false,
    isLate: false,
    isMerchantKnown: true,
    isFinal: false,
    takenBack: entry.refunded + entry.reversed,
    actedAt: entry.actedAt ? timestampDate(entry.actedAt) : new Date(),
    isHere: false,
    holdHere: null,
    subjectHere: null,
  };
}

/**
 * One line about an entry. A merchant chooses its users' names, which may have line feeds and what controls a terminal.
 */
export function lineOf(entry: UnknownEntry): string {
  const { kind, requestId, processor, answer, amount, currency, merchantId, userId, merchantReference, actedAt } =
    entry;
  const about = [userId && `user ${userId}`, merchantReference && `reference ${JSON.stringify(merchantReference)}`];
  const what = answer === 'UNSPECIFIED' ? 'open checkout' : [kind, answer].join(' ').toLowerCase();
  const whose = [merchantId || 'nobody', ...about, actedAt.toISOString()].filter(Boolean).join(', ');
  return `${what} ${requestId} at ${processor}: ${amount} ${currency} for ${whose}`
    .replace(/ +/g, ' ')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}
