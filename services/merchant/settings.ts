/** The demo merchant's settings; the only place where it reads its environment. */
import { z } from 'zod';

export const SCHEMA = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  MERCHANT_PORT: z.coerce.number().int().min(0).max(65535).default(8091),
  /** JSON: the live signing secrets of each merchant that this backend serves, by merchantId. */
  SIGNING_SECRETS: z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: 'custom', message: 'must be JSON' });
        return z.NEVER;
      }
    })
    .pipe(z.record(z.string(), z.array(z.string().min(1)).min(1).max(2))),
  /** File that keeps what was received; a folder's worth of demo, not an archive. */
  MERCHANT_DATA: z.string().min(1).default('.data/merchant.sqlite'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

/** What the demo merchant is told. */
export type MerchantSettings = z.output<typeof SCHEMA>;

/** Reads and checks the settings. Throws an error of one line that names each bad setting and never shows its value. */
export function readSettings(environment: NodeJS.ProcessEnv): MerchantSettings {
  const result = SCHEMA.safeParse(environment);
  if (result.success) return result.data;
  throw new Error(result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
}
