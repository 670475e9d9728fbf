/** The settings that several of core's processes have. */
import { z } from 'zod';
import {
  databaseUrl,
  host,
  PROCESS_SETTINGS,
  parsedBy,
  TRACING_SETTINGS,
  wholeNumber,
} from '../../../platform/settings.ts';
import { parseOrigins } from '../egress/gateway-address.ts';
import { parseEncryptionKeys } from '../storage/cipher.ts';

export const GATEWAY_ORIGIN = parsedBy(parseOrigins, 'must be http or https origins, joined by commas')
  .default([])
  .describe('every origin of the gateway, joined by commas; refused as internal URL in any spelling, which would loop');

/** Settings of core and worker. */
export const SERVER = {
  ...PROCESS_SETTINGS,
  ...TRACING_SETTINGS,
  DATABASE_URL: databaseUrl,
  DATABASE_POOL_SIZE: wholeNumber(2, 200)
    .default(10)
    .describe('connections; a core has half as many besides, for lists and searches'),
  SYNCHRONOUS_STANDBY: z
    .enum(['true', 'false'])
    .default('false')
    .describe(
      '`true`: the standby that takes over has every acknowledged commit, so a new timeline needs no ' +
        '[reconciling](operators.md#going-back-in-time)',
    ),
  ENCRYPTION_KEYS: parsedBy(
    parseEncryptionKeys,
    'must be id:base64-of-32-bytes with distinct ids, joined by commas',
  ).describe('`id:Base64 of 32 bytes[,…]`; the first encrypts, all decrypt'),
  HOST: host.describe('address to listen on'),
};
