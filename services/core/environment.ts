/** The settings that several of core's processes have. */
import { z } from 'zod';
import {
  databaseUrl,
  file,
  host,
  PROCESS_SETTINGS,
  parsedBy,
  TRACING_SETTINGS,
  token,
  wholeNumber,
} from '../../platform/settings.ts';
import { parseEncryptionKeys } from './cipher.ts';
import { parseOrigins } from './delivery/gateway-address.ts';
import { UNNAMED } from './domain/processor-name.ts';
import { type ProcessorsSettings, parseProcessors } from './processor/processors.ts';

/** The addresses at which the gateway is reached. */
export const origins = parsedBy(parseOrigins, 'must be http or https origins, joined by commas').default([]);

/** Settings of core and worker. */
export const SERVER = {
  ...PROCESS_SETTINGS,
  ...TRACING_SETTINGS,
  DATABASE_URL: databaseUrl,
  DATABASE_POOL_SIZE: wholeNumber(2, 200).default(10),
  ENCRYPTION_KEYS: parsedBy(parseEncryptionKeys, 'must be id:base64-of-32-bytes with distinct ids, joined by commas'),
  HOST: host,
};

/** Settings of each process that calls a processor. */
export const PROCESSOR = {
  PROCESSORS: parsedBy(parseProcessors, 'must be name=host:port with distinct names, joined by commas').optional(),
  PROCESSOR_URL: z
    .string()
    .regex(/^[^/]+:\d+$/, 'must be host:port')
    .optional(),
  PROCESSOR_CREDENTIAL: token,
  PROCESSOR_TIMEOUT_MS: wholeNumber(100, 60_000).default(5_000),
  PROCESSOR_TLS_CA: file,
  PROCESSOR_TLS_CERT: file,
  PROCESSOR_TLS_KEY: file,
  PROCESSOR_TLS_NAME: z.string().optional(),
};

/**
 * One of the two says where the processors are. With both, PROCESSOR_URL says which of PROCESSORS was the only one before: the one that is
 * called `default`, or else whichever is at that address.
 */
export function checkProcessors(
  { PROCESSORS, PROCESSOR_URL }: Pick<ProcessorsSettings, 'PROCESSORS' | 'PROCESSOR_URL'>,
  context: z.RefinementCtx,
): void {
  const refuse = (message: string) => context.addIssue({ code: 'custom', path: ['PROCESSOR_URL'], message });
  if (PROCESSOR_URL === undefined) {
    if (PROCESSORS === undefined) refuse('is needed, or PROCESSORS');
    return;
  }
  if (PROCESSORS === undefined) return;
  const before = PROCESSORS.filter(({ name, address }) => name === UNNAMED || address === PROCESSOR_URL);
  if (before.length === 1 && before[0]?.address === PROCESSOR_URL) return;
  refuse('must be the address of exactly one of PROCESSORS (of `default`, when one is called so), or unset');
}
