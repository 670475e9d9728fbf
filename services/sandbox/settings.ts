import { z } from 'zod';
import { file, grpcTarget, host, httpUrl, PROCESS_SETTINGS, port, token } from '../../platform/settings.ts';

export const SANDBOX_SETTINGS = z.object({
  ...PROCESS_SETTINGS,
  HOST: host,
  /** The processor contract, gRPC. */
  SANDBOX_PORT: port.default(50_061),
  /** The hosted checkout page, HTTP. */
  CHECKOUT_PORT: port.default(8_090),
  /** Where customers reach the checkout page. Unset: the loopback address with the port that was bound. */
  CHECKOUT_BASE_URL: httpUrl.optional(),
  /** File of the ledger. */
  SANDBOX_LEDGER: z.string().default('.data/sandbox.sqlite'),
  /** Core's gRPC address, where events are reported. */
  CORE_URL: grpcTarget.default('127.0.0.1:50051'),
  /** Bearer token that the sandbox shows to core. */
  PROCESSOR_TOKEN: token,
  /** Bearer token that core must show. */
  PROCESSOR_CREDENTIAL: token,
  /** PEM files of the gRPC server. Unset: it serves in clear. */
  SANDBOX_TLS_CERT: file,
  SANDBOX_TLS_KEY: file,
  SANDBOX_TLS_CLIENT_CA: file,
  /** PEM files of the channel to core. Unset: core is called in clear. */
  CORE_TLS_CA: file,
  CORE_TLS_CERT: file,
  CORE_TLS_KEY: file,
  CORE_TLS_NAME: file,
});

/** The settings of the sandbox. */
export type Settings = z.output<typeof SANDBOX_SETTINGS>;
