/** The settings that several of core's processes have. */
import { z } from 'zod';
import {
  byName,
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
import { addressesOf, inSettings, type ProcessorsSettings, parseProcessors } from './processor/processors.ts';

/** The addresses at which the gateway is reached. */
export const origins = parsedBy(parseOrigins, 'must be http or https origins, joined by commas').default([]);

/** Settings of core and worker. */
export const SERVER = {
  ...PROCESS_SETTINGS,
  ...TRACING_SETTINGS,
  DATABASE_URL: databaseUrl,
  DATABASE_POOL_SIZE: wholeNumber(2, 200).default(10),
  SYNCHRONOUS_STANDBY: z.enum(['true', 'false']).default('false'),
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
  PROCESSOR_CREDENTIAL: token.optional(),
  'PROCESSOR_<NAME>_CREDENTIAL': byName(token),
  PROCESSOR_TIMEOUT_MS: wholeNumber(100, 60_000).default(5_000),
  PROCESSOR_TLS_CA: file,
  PROCESSOR_TLS_CERT: file,
  PROCESSOR_TLS_KEY: file,
  PROCESSOR_TLS_NAME: z.string().optional(),
  'PROCESSOR_<NAME>_TLS_CA': byName(z.string()),
  'PROCESSOR_<NAME>_TLS_CERT': byName(z.string()),
  'PROCESSOR_<NAME>_TLS_KEY': byName(z.string()),
  'PROCESSOR_<NAME>_TLS_NAME': byName(z.string()),
};

/**
 * Checks what the settings say of processors together. `secrets` are settings that each processor needs: the only one may have them under
 * their plain name; of several, each has its own and no other's, so that none can be taken for, or speak for, another. With
 * PROCESSORS and PROCESSOR_URL, the latter says which was the only one before: the one that is called `default`, or else whichever is at
 * that address.
 */
export function checksProcessors(...secrets: readonly string[]) {
  return (settings: ProcessorsSettings, context: z.RefinementCtx): void => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    const { PROCESSORS, PROCESSOR_URL } = settings;
    if (PROCESSORS === undefined && PROCESSOR_URL === undefined) refuse(['PROCESSOR_URL'], 'is needed, or PROCESSORS');
    if (PROCESSORS !== undefined && PROCESSOR_URL !== undefined) {
      const before = PROCESSORS.filter(({ name, address }) => name === UNNAMED || address === PROCESSOR_URL);
      if (before.length !== 1 || before[0]?.address !== PROCESSOR_URL) {
        const which = 'of exactly one of PROCESSORS (of `default`, when one is called so)';
        refuse(['PROCESSOR_URL'], `must be the address ${which}, or unset`);
      }
    }
    const names = addressesOf(settings).map(({ name }) => inSettings(name));
    const given = Object.entries(settings).filter(([setting]) => setting.includes('<NAME>'));
    for (const [setting, values = {}] of given)
      for (const name of Object.keys(values))
        if (!names.includes(name)) refuse([setting, name], 'is about no processor of PROCESSORS');
    const all: Readonly<Record<string, unknown>> = { ...settings };
    for (const setting of secrets) {
      const ofEach = setting.replace('PROCESSOR_', 'PROCESSOR_<NAME>_');
      const own = (all[ofEach] ?? {}) as Readonly<Record<string, string>>;
      const used = new Set<string>();
      for (const name of names) {
        const tokens = own[name]?.split(',') ?? [];
        if (tokens.length === 0 && names.length > 1) refuse([ofEach, name], 'is needed');
        else if (tokens.length === 0 && all[setting] === undefined) refuse([setting], 'is needed');
        if (tokens.some((each) => used.has(each))) refuse([ofEach, name], 'is that of another processor, too');
        for (const each of tokens) used.add(each);
      }
    }
  };
}
