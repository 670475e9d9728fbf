import { writeFile } from 'node:fs/promises';
import type { UnknownEntry } from './unknown-entry.ts';

/** What became of an operation that the database had lost. UNKNOWN = nothing was decided about it. */
export type Became = 'IMPORTED' | 'GAVE BACK' | 'LEFT' | 'UNKNOWN';

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

/** Writes a file of JSON lines for each merchant into a folder. Returns the number of files. */
export async function writeReports(folder: string, lines: readonly ReportLine[]): Promise<number> {
  const byMerchant = Map.groupBy(lines, ({ merchantId }) => merchantId);
  for (const [merchantId, ofMerchant] of byMerchant) {
    const file = `${folder}/${encodeURIComponent(merchantId || 'nobody')}.jsonl`;
    await writeFile(file, ofMerchant.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 });
  }
  return byMerchant.size;
}
