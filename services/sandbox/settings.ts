import { z } from 'zod';
import { ADAPTER_SETTINGS } from '../../platform/adapter/settings.ts';
import { file, httpUrl, PROCESS_SETTINGS, port } from '../../platform/settings.ts';

export const SANDBOX_SETTINGS = z.object({
  ...PROCESS_SETTINGS,
  ...ADAPTER_SETTINGS,
  /** The processor contract, gRPC. */
  SANDBOX_PORT: port.default(50_061),
  /** The hosted checkout page, HTTP. */
  CHECKOUT_PORT: port.default(8_090),
  /** Where customers reach the checkout page. Unset: the loopback address with the port that was bound. */
  CHECKOUT_BASE_URL: httpUrl.optional(),
  /** File of the ledger. */
  SANDBOX_LEDGER: z.string().default('.data/sandbox.sqlite'),
  /** PEM files of the gRPC server. Unset: it serves in clear. */
  SANDBOX_TLS_CERT: file,
  SANDBOX_TLS_KEY: file,
  SANDBOX_TLS_CLIENT_CA: file,
});

/** The settings of the sandbox. */
export type Settings = z.output<typeof SANDBOX_SETTINGS>;
