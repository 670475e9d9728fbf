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
} from '../../../platform/settings.ts';
import { parseOrigins } from '../egress/gateway-address.ts';
import { addressesOf, inSettings, type ProcessorsSettings, parseProcessors } from '../processor/processors.ts';
import { parseEncryptionKeys } from '../storage/cipher.ts';

/** The addresses at which the gateway is reached. */
export const origins = parsedBy(parseOrigins, 'must be http or https origins, joined by commas').default([]);

/** Settings of core and worker. */
export const SERVER = {
  ...PROCESS_SETTINGS,
  ...TRACING_SETTINGS,
  DATABASE_URL: databaseUrl.describe(
    '`postgresql://…`; of several servers (`host:port,host:port`) the primary is used ([High ' +
      'availability](high-availability.md))',
  ),
  DATABASE_POOL_SIZE: wholeNumber(2, 200)
    .default(10)
    .describe('connections; a core has half as many besides, for lists and searches'),
  SYNCHRONOUS_STANDBY: z
    .enum(['true', 'false'])
    .default('false')
    .describe(
      '`true`: the standby that takes over has every commit that was acknowledged, so a new timeline of the database ' +
        'needs no ' +
        '[reconciling](operators.md#going-back-in-time)',
    ),
  ENCRYPTION_KEYS: parsedBy(
    parseEncryptionKeys,
    'must be id:base64-of-32-bytes with distinct ids, joined by commas',
  ).describe('`id:Base64 of 32 bytes[,…]`; the first encrypts, all decrypt'),
  HOST: host.describe('address to listen on'),
};

/** Settings of each process that calls a processor. */
export const PROCESSOR = {
  PROCESSORS: parsedBy(parseProcessors, 'must be name=host:port with distinct names, joined by commas')
    .optional()
    .describe('`name=host:port[,…]`, the card processors; the first is the default of contracts'),
  PROCESSOR_URL: z
    .string()
    .regex(/^[^/]+:\d+$/, 'must be host:port')
    .optional()
    .describe(
      '`host:port` of the only one, which is named `default`; instead of PROCESSORS ' +
        '([From one processor to several](#from-one-processor-to-several))',
    ),
  PROCESSOR_CREDENTIAL: token
    .optional()
    .describe('token that core shows to the only processor; of several each has its own'),
  'PROCESSOR_<NAME>_CREDENTIAL': byName(token).describe(
    'token that core shows to one of PROCESSORS ([Settings of one processor](#settings-of-one-processor))',
  ),
  PROCESSOR_TIMEOUT_MS: wholeNumber(100, 60_000).default(5_000).describe('after which an answer counts as unknown'),
  PROCESSOR_TLS_CA: file.describe("authorities of the processor's certificate, or `system`"),
  PROCESSOR_TLS_CERT: file.describe('shown to the processor'),
  PROCESSOR_TLS_KEY: file.describe('its key'),
  PROCESSOR_TLS_NAME: z
    .string()
    .optional()
    .describe("name in the processor's certificate, when not the one in its address"),
  'PROCESSOR_<NAME>_TLS_CA': byName(z.string()).describe('the same towards one of PROCESSORS, instead of those four'),
  'PROCESSOR_<NAME>_TLS_CERT': byName(z.string()).describe('shown to it'),
  'PROCESSOR_<NAME>_TLS_KEY': byName(z.string()).describe('its key'),
  'PROCESSOR_<NAME>_TLS_NAME': byName(z.string()).describe('name in its certificate'),
};

/**
 * Checks what the settings say of processors together. `secrets` are settings that each processor needs: the only one
 * may have them under their plain name; of several, each has its own and no other's, so that none can be taken for, or
 * speak for, another.
 */
export function checksProcessors(...secrets: readonly string[]) {
  return (settings: ProcessorsSettings, context: z.RefinementCtx): void => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    const { PROCESSORS, PROCESSOR_URL } = settings;
    if (PROCESSORS === undefined && PROCESSOR_URL === undefined) refuse(['PROCESSOR_URL'], 'is needed, or PROCESSORS');
    if (PROCESSORS !== undefined && PROCESSOR_URL !== undefined) {
      refuse(['PROCESSOR_URL'], 'must be unset: PROCESSORS names them all');
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
