import { writeFile } from 'node:fs/promises';
import type { UnknownEntry } from './unknown-entry.ts';

/** What became of an operation that the database had lost. UNKNOWN = nothing was decided about it. */
export type Became = 'IMPORTED' | 'GAVE BACK' | 'LEFT' | 'UNKNOWN';

/** A line of a merchant's report. Money in minor units; what is not known is absent. */
export interface ReportLine {
  readonly merchantId: string;
  readonly became: Became;
  /** An operation's kind; RELEASE also of a hold that had expired, END = the processor has ended the hold by itself. */
  readonly operation: string;
  /** Under which requestId it is back. */
  readonly requestId?: string | undefined;
  /** The requestId that it had. */
  readonly hadRequestId?: string | undefined;
  /** A hold that is back has another preauthorizationId than it had. */
  readonly preauthorizationIdIsNew?: true | undefined;
  readonly amount: number;
  readonly currency: string;
  readonly userId?: string | undefined;
  readonly merchantReference?: string | undefined;
  /** RFC 3339. */
  readonly actedAt: string;
  readonly processor: string;
  /** Its identifier at the processor. */
  readonly processorRequestId: string;
  /** Why it was left, or what else there is to say. */
  readonly note?: string | undefined;
}

export function reportLine(
  entry: UnknownEntry,
  became: Became,
  more: Pick<ReportLine, 'requestId' | 'preauthorizationIdIsNew' | 'note'>,
): ReportLine {
  const { merchantId, kind, amount, currency, userId, merchantReference, actedAt, processor, requestId } = entry;
  return {
    merchantId,
    became,
    operation: OPERATION[kind] ?? kind,
    ...more,
    hadRequestId: entry.operationRequestId || requestId,
    amount: Number(amount),
    currency,
    userId: userId || undefined,
    merchantReference: merchantReference || undefined,
    actedAt: actedAt.toISOString(),
    processor,
    processorRequestId: requestId,
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
