import { appendFileSync } from 'node:fs';
import type { UnknownEntry } from './unknown-entry.ts';

/**
 * The result for an operation that the database had lost. IMPORTED: it is booked here. CLOSED: its open checkout was
 * closed. REFUNDED: its capture has no room here. LEFT: that failed. UNKNOWN: no decision was made.
 */
export type Became = 'IMPORTED' | 'CLOSED' | 'REFUNDED' | 'LEFT' | 'UNKNOWN';

/** More about the result; unknown fields are absent. */
export interface Particulars {
  /** Under which requestId it is back. */
  readonly requestId?: string | undefined;
  /** A hold that is back has another preauthorizationId than it had. */
  readonly preauthorizationIdIsNew?: true | undefined;
  /** Why it was left, or what else there is to say. */
  readonly note?: string | undefined;
}

export type ReportLine = ReturnType<typeof reportLine>;

/** A line of a merchant's report. Amounts in minor units, times RFC 3339; unknown values are undefined. */
export function reportLine(entry: UnknownEntry, became: Became, particulars: Particulars) {
  return {
    merchantId: entry.merchantId,
    became,
    /**
     * An operation's kind; RELEASE also of a hold that had expired, END = the processor has ended the hold by itself.
     */
    operation: OPERATION[entry.kind] ?? entry.kind,
    ...particulars,
    hadRequestId: entry.operationRequestId || entry.requestId,
    amount: Number(entry.amount),
    currency: entry.currency,
    userId: entry.userId || undefined,
    merchantReference: entry.merchantReference || undefined,
    actedAt: entry.actedAt.toISOString(),
    processor: entry.processor,
    /** Its identifier at the processor. */
    processorRequestId: entry.requestId,
  };
}

const OPERATION: Readonly<Record<string, string>> = {
  AUTHORIZATION: 'HOLD',
  VOID: 'RELEASE',
  DECREASE: 'PARTIAL_RELEASE',
  CREDIT: 'OCT',
};

/**
 * Appends a line to the report of its merchant, a file of JSON lines in a folder. It is on disk when this returns: an
 * action is reported once, even if the process dies afterwards.
 */
export function appendToReport(folder: string, line: ReportLine): void {
  const name = encodeURIComponent(line.merchantId || 'nobody').slice(0, LONGEST_NAME);
  appendFileSync(`${folder}/${name}.jsonl`, `${JSON.stringify(line)}\n`, { mode: 0o600 });
}

/** Files have names of 255 bytes at most; a merchant of ours has 32. */
const LONGEST_NAME = 200;
