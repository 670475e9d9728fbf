/** Reading a process's settings from its environment, and the forms that several processes' settings share. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseDatabaseUrl } from './database-url.ts';
import { plainWords } from './plain-words.ts';

/**
 * Reads settings by a schema. An empty setting counts as unset; SETTING_FILE names a file with the value of SETTING.
 * Throws an Error of one line that names every setting that is missing or wrong and never quotes a value.
 */
export function readSettings<S extends z.ZodType>(
  schema: S,
  environment: Readonly<Record<string, string | undefined>>,
): z.output<S> {
  const settings = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const given = { ...set, ...valuesInFiles(settings, set) };
  const named = settings.flatMap((setting) => valuesByName(setting, given));
  const parsed = schema.safeParse({ ...given, ...Object.fromEntries(named) }, { error: plainWords });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path: [setting, which], message }) => {
    const name = String(setting).replace(NAME, String(which));
    return given[name] === undefined ? `${name} is not set` : `${name}: ${message}`;
  });
  throw new Error(`settings: ${faults.join('; ')}`);
}

/**
 * Stands in a setting's name for the name of what it is about: `PROCESSOR_<NAME>_TOKEN` is set as
 * `PROCESSOR_STRIPE_TOKEN`.
 */
const NAME = '<NAME>';

/** A setting with NAME in its name: the values that are set, by what stands there. */
export function byName<S extends z.ZodType>(setting: S) {
  return z.record(z.string(), setting).optional();
}

/**
 * The values of settings that files contain, as container platforms mount secrets. The line break at the end of a file is
 * no part of the value. Throws an Error that names the setting.
 */
function valuesInFiles(settings: readonly string[], set: Readonly<Record<string, string | undefined>>) {
  const forms = settings.map((setting) => new RegExp(`^${setting.replace(NAME, '[A-Z][A-Z0-9_]*')}$`));
  const values: Record<string, string> = {};
  for (const [name, path] of Object.entries(set)) {
    const setting = name.replace(/_FILE$/, '');
    if (setting === name || path === undefined || !forms.some((form) => form.test(setting))) continue;
    if (set[setting] !== undefined) throw new Error(`settings: ${setting} and ${name} are set: one of them is enough`);
    try {
      values[setting] = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      throw new Error(`settings: ${name}: the file cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  }
  return values;
}

function valuesByName(setting: string, given: Readonly<Record<string, string | undefined>>): [string, object][] {
  const [start, end] = setting.split(NAME);
  if (end === undefined) return [];
  const form = new RegExp(`^${start}([A-Z][A-Z0-9_]*)${end}$`);
  const values = Object.entries(given).flatMap(([name, value]) => {
    const which = form.exec(name)?.[1];
    return which === undefined ? [] : [[which, value]];
  });
  return values.length === 0 ? [] : [[setting, Object.fromEntries(values)]];
}

/** A setting that `parse` reads. `form` describes a right value: the parser's own message may quote the wrong one. */
export function parsedBy<T>(parse: (text: string) => T, form: string) {
  return z.string().transform((text, context) => {
    try {
      return parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: form });
      return z.NEVER;
    }
  });
}

/** A whole number between two bounds, both included, in digits: a blank is not 0, and 010 neither 10 nor 8. */
export function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  const form = z.string().regex(/^(0|[1-9][0-9]{0,14})$/, message);
  return form.transform(Number).pipe(z.number().min(least, message).max(most, message));
}

/** A port to listen on; 0 = any free one. */
export const port = wholeNumber(0, 65_535);
/** How many proxies are believed about a client's address. */
export const trustedProxyHops = wholeNumber(0, 10)
  .default(0)
  .describe('proxies in front that append to `X-Forwarded-For`, with or without a port');
/** Path of a file. */
export const file = z.string().optional();
/** The files with which a client of core authenticates. */
export const shownToCore = file.describe('PEM certificate and key shown to core');
/** An address to listen on. */
export const host = z.string().default('127.0.0.1');
const FORM_OF_TOKENS = 'must have at least 32 characters, all of them ASCII, without blanks';
/** A bearer token that this process sends: one, since several, as they are accepted, would be accepted nowhere. */
export const token = z.string().regex(/^[!-+\--~]{32,}$/, `${FORM_OF_TOKENS} and commas`);
/** Bearer tokens that this process accepts: several, joined by commas, while one is being replaced. */
export const tokens = z.string().regex(/^[!-+\--~]{32,}(,[!-+\--~]{32,})*$/, FORM_OF_TOKENS);
/** Checks that a token stands for one role: none of the settings has one of another's. */
export function checksRoles(names: readonly string[]) {
  return (settings: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void => {
    const used = new Set<string>();
    for (const setting of names) {
      const own = String(settings[setting] ?? '')
        .split(',')
        .filter(Boolean);
      if (own.some((each) => used.has(each))) {
        context.addIssue({ code: 'custom', path: [setting], message: 'is that of another role, too' });
      }
      for (const each of own) used.add(each);
    }
  };
}

export const databaseUrl = z
  .string()
  .superRefine((url, context) => {
    try {
      parseDatabaseUrl(url);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
    }
  })
  .describe(
    '`postgresql://…`; of several servers (`host:port,host:port`) the primary is used ([High ' +
      'availability](high-availability.md))',
  );
export const redisUrl = z.url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// address' });
/** A path is added to it. */
export const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .regex(/^[^?#]*$/, 'must have no query');
/** Where a key may be sent, below a path: https, or http on this very machine. */
export function isSafeAddress(text: string): boolean {
  const url = /[?#@\s]/.test(text) ? null : URL.parse(text);
  const isLoopback = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(url?.hostname ?? '');
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback);
}
/** A gRPC server: host:port, or a target of those schemes that grpc-js resolves. It takes any other text for a name. */
export const grpcTarget = z
  .string()
  .regex(/^((dns:(\/\/[^/\s]*\/)?)?[^/\s]+:[0-9]+|(ipv4|ipv6|unix):\S+)$/, 'must be host:port, or dns:///host:port');

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** The settings of every process. */
export const PROCESS_SETTINGS = {
  LOG_LEVEL: z
    .enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`)
    .default('info')
    .describe('`trace`, `debug`, `info`, `warn`, `error`, `fatal`, `silent`'),
};

/** The settings of a process that writes traces. */
export const TRACING_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl
    .optional()
    .describe('traces by OTLP over HTTP, such as `http://127.0.0.1:4318`; unset: none'),
};
