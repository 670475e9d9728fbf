import { appendFileSync } from 'node:fs';
import type { UnknownEntry } from './unknown-entry.ts';

/**
 * What became of an operation that the database had lost: it is IMPORTED; a checkout that was open is CLOSED; a capture
 * that has no room here is REFUNDED. LEFT = that failed, UNKNOWN = nothing was decided about it.
 */
export type Became = 'IMPORTED' | 'CLOSED' | 'REFUNDED' | 'LEFT' | 'UNKNOWN';

/** What became of it, besides: what is not known is absent. */
export interface Particulars {
  /** Under which requestId it is back. */
  readonly requestId?: string | undefined;
  /** A hold that is back has another preauthorizationId than it had. */
  readonly preauthorizationIdIsNew?: true | undefined;
  /** Why it was left, or what else there is to say. */
  readonly note?: string | undefined;
}

export type ReportLine = ReturnType<typeof reportLine>;

/** A line of a merchant's report. Money in minor units, times RFC 3339; what is not known is undefined. */
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

const OPERATION: Readonly<Record<string, string>> = { AUTHORIZATION: 'HOLD', VOID: 'RELEASE', CREDIT: 'OCT' };

/**
 * Appends a line to the report of its merchant, a file of JSON lines in a folder. It is written when this returns: what
 * is done once is reported once, also by a process that dies afterwards.
 */
export function appendToReport(folder: string, line: ReportLine): void {
  const name = encodeURIComponent(line.merchantId || 'nobody').slice(0, LONGEST_NAME);
  appendFileSync(`${folder}/${name}.jsonl`, `${JSON.stringify(line)}\n`, { mode: 0o600 });
}

/** Files have names of 255 bytes at most; a merchant of ours has 32. */
const LONGEST_NAME = 200;
