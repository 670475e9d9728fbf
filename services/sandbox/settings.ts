/** The sandbox's settings: the environment, read once, checked. */
import * as z from 'zod';
import type { LogLevel } from '../../proto/log.ts';
import type { ChannelFiles, DoorFiles } from '../../proto/tls.ts';

/** What the sandbox needs to know to run. Port 0 = any free port. */
export interface Settings {
  readonly host: string;
  /** The processor contract, gRPC. */
  readonly sandboxPort: number;
  /** The hosted checkout page, HTTP. */
  readonly checkoutPort: number;
  /** Where customers reach the checkout page; absent = the loopback address with the port that was bound. */
  readonly checkoutBaseUrl?: string | undefined;
  /** File of the ledger. */
  readonly sandboxLedger: string;
  /** Core's gRPC address, `host:port`, where events are reported. */
  readonly coreUrl: string;
  /** Bearer token shown to core. */
  readonly processorToken: string;
  /** Bearer token that core must show. */
  readonly processorCredential: string;
  /** PEM files of the processor door; absent = in clear. */
  readonly doorFiles?: DoorFiles;
  /** PEM files of the channel to core; absent = in clear. */
  readonly coreFiles?: ChannelFiles;
  readonly logLevel: LogLevel;
}

const port = z.coerce.number().int().min(0).max(65_535);
const token = z.string('is required').min(32, 'must have at least 32 characters');
const file = z.string().min(1).optional();

export const SCHEMA = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  SANDBOX_PORT: port.default(50_061),
  CHECKOUT_PORT: port.default(8_090),
  CHECKOUT_BASE_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  SANDBOX_LEDGER: z.string().min(1).default('.data/sandbox.sqlite'),
  CORE_URL: z.string().min(1).default('127.0.0.1:50051'),
  PROCESSOR_TOKEN: token,
  PROCESSOR_CREDENTIAL: token,
  SANDBOX_TLS_CERT: file,
  SANDBOX_TLS_KEY: file,
  SANDBOX_TLS_CLIENT_CA: file,
  CORE_TLS_CA: file,
  CORE_TLS_CERT: file,
  CORE_TLS_KEY: file,
  CORE_TLS_NAME: file,
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

/**
 * Reads the settings from an environment. Throws an Error whose message is one line that names every setting that is
 * missing or wrong, never its value.
 */
export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const parsed = SCHEMA.safeParse(environment);
  if (!parsed.success) {
    throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
  }
  const values = parsed.data;
  return {
    host: values.HOST,
    sandboxPort: values.SANDBOX_PORT,
    checkoutPort: values.CHECKOUT_PORT,
    checkoutBaseUrl: values.CHECKOUT_BASE_URL,
    sandboxLedger: values.SANDBOX_LEDGER,
    coreUrl: values.CORE_URL,
    processorToken: values.PROCESSOR_TOKEN,
    processorCredential: values.PROCESSOR_CREDENTIAL,
    doorFiles: {
      cert: values.SANDBOX_TLS_CERT,
      key: values.SANDBOX_TLS_KEY,
      clientCa: values.SANDBOX_TLS_CLIENT_CA,
    },
    coreFiles: {
      ca: values.CORE_TLS_CA,
      cert: values.CORE_TLS_CERT,
      key: values.CORE_TLS_KEY,
      name: values.CORE_TLS_NAME,
    },
    logLevel: values.LOG_LEVEL,
  };
}
