import { z } from 'zod';
import { ADAPTER_SETTINGS } from '../../platform/adapter/settings.ts';
import { file, httpUrl, PROCESS_SETTINGS, port } from '../../platform/settings.ts';

const ofServer = file.describe("PEM certificate and key of the sandbox's server");

export const SANDBOX_SETTINGS = z.object({
  ...PROCESS_SETTINGS,
  ...ADAPTER_SETTINGS,
  SANDBOX_PORT: port.default(50_061).describe('gRPC'),
  CHECKOUT_PORT: port.default(8_090).describe('the checkout page'),
  CHECKOUT_BASE_URL: httpUrl.optional().describe('where customers reach it; unset: loopback'),
  SANDBOX_LEDGER: z.string().default('.data/sandbox.sqlite').describe('file'),
  SANDBOX_TLS_CERT: ofServer,
  SANDBOX_TLS_KEY: ofServer,
  SANDBOX_TLS_CLIENT_CA: file.describe('demands certificates of callers (mutual TLS)'),
});

/** The settings of the sandbox. */
export type Settings = z.output<typeof SANDBOX_SETTINGS>;
