import { z } from 'zod';
import { isSigningSecret } from '../../client/webhooks/signature.ts';
import { host, PROCESS_SETTINGS, parsedBy, port } from '../../platform/settings.ts';

const SECRET_FORM = 'must be whsec_ and at least 24 bytes of Base64';

export const MERCHANT_SETTINGS = z.object({
  ...PROCESS_SETTINGS,
  HOST: host.describe('address to listen on'),
  MERCHANT_PORT: port.default(8091).describe('of the demo merchant'),
  SIGNING_SECRETS: parsedBy(JSON.parse, 'must be JSON')
    .pipe(z.record(z.string(), z.array(z.string().refine(isSigningSecret, SECRET_FORM)).min(1).max(2)))
    .describe('`{"merchantId": ["whsec_…"]}`'),
  MERCHANT_DATA: z.string().min(1).default('.data/merchant.sqlite').describe('file'),
});

/** The settings of the demo merchant. */
export type MerchantSettings = z.output<typeof MERCHANT_SETTINGS>;
