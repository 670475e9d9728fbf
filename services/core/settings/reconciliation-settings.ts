import { z } from 'zod';
import { databaseUrl, wholeNumber } from '../../../platform/settings.ts';
import { checksProcessors, PROCESSOR } from '../processor/processor-settings.ts';
import { MOST_UNKNOWN } from '../processor/read-entries.ts';
import { SERVER } from './environment.ts';

const AUDITED = {
  DATABASE_URL: databaseUrl,
  ...PROCESSOR,
  /** Books with more entries than this, besides four for each operation ever sent to the processor, do not end. */
  LEDGER_ENTRIES: wholeNumber(1, 1_000_000_000).default(MOST_UNKNOWN),
  /** A page of a thousand entries takes longer than a payment may. */
  PROCESSOR_TIMEOUT_MS: PROCESSOR.PROCESSOR_TIMEOUT_MS.removeDefault().default(30_000),
};

export const AUDIT_SETTINGS = z.object(AUDITED).superRefine(checksProcessors('PROCESSOR_CREDENTIAL'));

export const RECONCILE_SETTINGS = z
  .object({ ...AUDITED, ENCRYPTION_KEYS: SERVER.ENCRYPTION_KEYS })
  .superRefine(checksProcessors('PROCESSOR_CREDENTIAL'));
