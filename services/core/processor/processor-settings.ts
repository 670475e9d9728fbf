/** The settings of processors, for each process that calls them. */
import { z } from 'zod';
import { byName, file, parsedBy, token, wholeNumber } from '../../../platform/settings.ts';

const shownToProcessor = file.describe('PEM certificate and key shown to the processor');
const tlsOfOne = byName(z.string()).describe('the same towards one of PROCESSORS, instead of those four');

export const PROCESSOR = {
  PROCESSORS: parsedBy(parseProcessors, 'must be name=host:port with distinct names, joined by commas')
    .optional()
    .describe('`name=host:port[,…]`, the card processors; the first is the default of contracts'),
  PROCESSOR_URL: z
    .string()
    .regex(/^[^/\s]+:\d+$/, 'must be host:port')
    .optional()
    .describe(
      '`host:port` of the only one, which is named `default`; instead of PROCESSORS ' +
        '([From one processor to several](#from-one-processor-to-several))',
    ),
  PROCESSOR_CREDENTIAL: token.optional().describe('token that core shows to the only processor'),
  'PROCESSOR_<NAME>_CREDENTIAL': byName(token).describe(
    'token that core shows to one of PROCESSORS ([Settings of one processor](#settings-of-one-processor))',
  ),
  PROCESSOR_TIMEOUT_MS: wholeNumber(100, 60_000).default(5_000).describe('after which an answer counts as unknown'),
  PROCESSOR_TLS_CA: file.describe("authorities of the processor's certificate, or `system`"),
  PROCESSOR_TLS_CERT: shownToProcessor,
  PROCESSOR_TLS_KEY: shownToProcessor,
  PROCESSOR_TLS_NAME: z
    .string()
    .optional()
    .describe("name in the processor's certificate, when not the one in its address"),
  'PROCESSOR_<NAME>_TLS_CA': tlsOfOne,
  'PROCESSOR_<NAME>_TLS_CERT': tlsOfOne,
  'PROCESSOR_<NAME>_TLS_KEY': tlsOfOne,
  'PROCESSOR_<NAME>_TLS_NAME': tlsOfOne,
};

/** These settings, as they were read. */
export type ProcessorsSettings = Partial<z.output<z.ZodObject<typeof PROCESSOR>>> & {
  readonly PROCESSOR_TIMEOUT_MS: number;
};

export interface NamedAddress {
  readonly name: string;
  readonly address: string;
}

/** A processor's name as it stands in the names of settings: `stripe-eu` is STRIPE_EU. */
export function inSettings(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}

/** The processors that the settings name. */
export function addressesOf({
  PROCESSORS: named,
  PROCESSOR_URL: only,
}: Pick<ProcessorsSettings, 'PROCESSORS' | 'PROCESSOR_URL'>): readonly NamedAddress[] {
  if (named) return named;
  return only === undefined ? [] : [{ name: 'default', address: only }];
}

/**
 * Parses `sandbox=127.0.0.1:50061,stripe=127.0.0.1:50062`. Throws when it is something else, or a name comes twice,
 * also as settings have it.
 */
export function parseProcessors(text: string): NamedAddress[] {
  const named = text.split(',').map((part) => {
    const [, name, address] = /^\s*([a-z][a-z0-9_-]{0,31})=([^/=\s]+:\d+)\s*$/.exec(part) ?? [];
    if (name === undefined || address === undefined) throw new Error('not name=host:port');
    return { name, address };
  });
  if (new Set(named.map(({ name }) => inSettings(name))).size < named.length) throw new Error('a name comes twice');
  return named;
}

type Refuse = (path: string[], message: string) => void;

/** Checks what the settings say of processors together; `secrets` are settings that each processor needs. */
export function checksProcessors(...secrets: readonly string[]) {
  return (settings: ProcessorsSettings, context: z.RefinementCtx): void => {
    const refuse: Refuse = (path, message) => context.addIssue({ code: 'custom', path, message });
    const { PROCESSORS, PROCESSOR_URL } = settings;
    if (PROCESSORS === undefined && PROCESSOR_URL === undefined) refuse(['PROCESSOR_URL'], 'is needed, or PROCESSORS');
    if (PROCESSORS !== undefined && PROCESSOR_URL !== undefined) {
      refuse(['PROCESSOR_URL'], 'must be unset: PROCESSORS names them all');
    }
    const names = addressesOf(settings).map(({ name }) => inSettings(name));
    for (const [setting, values] of Object.entries(settings)) {
      const given = setting.includes('<NAME>') ? Object.keys(values ?? {}) : [];
      const strange = given.filter((name) => !names.includes(name));
      for (const name of strange) refuse([setting, name], 'is about no processor of PROCESSORS');
    }
    for (const secret of secrets) checkSecret(secret, settings, names, refuse);
  };
}

/**
 * Checks a setting that each processor needs: the only one may have it under its plain name; of several, each has its
 * own and no other's, so that none can be taken for, or speak for, another.
 */
function checkSecret(plain: string, settings: object, names: readonly string[], refuse: Refuse): void {
  const ofEach = plain.replace('PROCESSOR_', 'PROCESSOR_<NAME>_');
  const values = settings as Readonly<Record<string, unknown>>;
  const own = (values[ofEach] ?? {}) as Readonly<Record<string, string>>;
  const used = new Set<string>();
  for (const name of names) {
    const tokens = own[name]?.split(',') ?? [];
    if (tokens.length === 0 && names.length > 1) refuse([ofEach, name], 'is needed');
    else if (tokens.length === 0 && values[plain] === undefined) refuse([plain], 'is needed');
    if (tokens.some((token) => used.has(token))) refuse([ofEach, name], 'is that of another processor, too');
    for (const token of tokens) used.add(token);
  }
}
