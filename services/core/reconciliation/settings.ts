import { z } from 'zod';
import { databaseUrl } from '../../../platform/settings.ts';
import { checksProcessors, PROCESSOR } from '../environment.ts';

/** The settings of the audit: core's own. */
export const AUDIT_SETTINGS = z
  .object({
    DATABASE_URL: databaseUrl,
    ...PROCESSOR,
    /** A page of a thousand entries takes longer than a payment may. */
    PROCESSOR_TIMEOUT_MS: PROCESSOR.PROCESSOR_TIMEOUT_MS.removeDefault().default(30_000),
  })
  .superRefine(checksProcessors('PROCESSOR_CREDENTIAL'));
