import { z } from 'zod';
import { host, PROCESS_SETTINGS, parsedBy, port } from '../../platform/settings.ts';

export const MERCHANT_SETTINGS = z.object({
  ...PROCESS_SETTINGS,
  HOST: host,
  MERCHANT_PORT: port.default(8091),
  /** JSON: the live signing secrets of each merchant that this backend serves, by merchantId. */
  SIGNING_SECRETS: parsedBy(JSON.parse, 'must be JSON').pipe(
    z.record(z.string(), z.array(z.string().min(1)).min(1).max(2)),
  ),
  /** File that keeps what was received; for the demo, not an archive. */
  MERCHANT_DATA: z.string().min(1).default('.data/merchant.sqlite'),
});

/** The settings of the demo merchant. */
export type MerchantSettings = z.output<typeof MERCHANT_SETTINGS>;
