/** The common parts of commands: their descriptions, surroundings and arguments. */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Holdfast } from '../holdfast.ts';
import type { HoldfastError } from '../refusal.ts';
import { fetchTrusting } from './trust.ts';
import { UsageError } from './usage-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The surroundings of a command. */
export interface Run {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, string | undefined>>;
  /** Options that may be given several times. */
  readonly lists: Readonly<Record<string, readonly string[] | undefined>>;
  readonly flags: Readonly<Record<string, boolean | undefined>>;
  readonly env: Environment;
  /** Aborts at Ctrl-C, and when the process is to end. */
  readonly signal: AbortSignal;
  /** Prints a record or several: a table for people, JSON with --json. */
  show(rows: readonly object[] | object): void;
  /** Prints one of many that come: the line for people, the record with --json. */
  tell(line: string, record: object): void;
  /** Says on standard error what goes wrong meanwhile: the line for people, the record with --json. */
  warn(line: string, record: object): void;
  /** Asks for a line; a secret is not echoed. */
  ask(question: string, isSecret: boolean): Promise<string>;
}

export interface Command {
  /** Its arguments without a name; unset = none. */
  readonly args?: string;
  readonly what: string;
  /** Options with a value, and what each is; of flags it begins with "flag: ", of lists with "several: ". */
  readonly options?: Readonly<Record<string, string>>;
  run(run: Run): Promise<void>;
}

/** The service that the profile names. Throws UsageError when there is none. */
export async function open(run: Run): Promise<Holdfast> {
  return connect(run, await readProfile(run));
}

/** The service of a profile. Throws UsageError for a --ca that is none. */
export async function connect({ options }: Run, profile: Profile): Promise<Holdfast> {
  return new Holdfast({ ...profile, ...(options.ca !== undefined && { fetch: await fetchTrusting(options.ca) }) });
}

/** For watches: says each failed opening and each break. */
export function onFailureOf({ warn }: Run) {
  return ({ code, message }: HoldfastError, againInMs: number) => {
    const line = `not open: ${message}; again in ${(againInMs / 1_000).toFixed(1)} s`;
    warn(line, { failure: { code, message }, againInMs: Math.round(againInMs) });
  };
}

/** The profile that is used. */
export function nameOf({ options }: Run): string {
  return options.profile ?? 'default';
}

/** The first argument. Throws UsageError when it is absent. */
export function argument({ args }: Run, name: string): string {
  const [value] = args;
  if (value === undefined) throw new UsageError(`${name} is needed`);
  return value;
}

export interface Profile {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** The file with all profiles, for its owner only. */
function profilesFile(env: Environment): string {
  return join(env.XDG_CONFIG_HOME || join(homeOf(), '.config'), 'holdfast', 'profiles.json');
}

/** The home directory. Throws UsageError for a user without one, as in a container. */
export function homeOf(): string {
  try {
    return homedir();
  } catch {
    throw new UsageError('this user has no home directory: set HOLDFAST_BASE_URL and HOLDFAST_API_KEY, or HOME');
  }
}

/**
 * The URL and key of the service. HOLDFAST_BASE_URL and HOLDFAST_API_KEY take precedence. Throws UsageError when there
 * is none.
 */
export async function readProfile(run: Run): Promise<Profile> {
  const { env } = run;
  const name = nameOf(run);
  const isGiven = env.HOLDFAST_BASE_URL && env.HOLDFAST_API_KEY;
  const stored = isGiven ? undefined : (await readAll(env))[name];
  const baseUrl = env.HOLDFAST_BASE_URL || stored?.baseUrl;
  const apiKey = env.HOLDFAST_API_KEY || stored?.apiKey;
  if (baseUrl !== undefined && apiKey !== undefined) return { baseUrl, apiKey };
  throw new UsageError(`no profile ${name}: run holdfast login, or set HOLDFAST_BASE_URL and HOLDFAST_API_KEY`);
}

/** Stores a profile; the file is readable by its owner only. */
export async function storeProfile(run: Run, profile: Profile): Promise<void> {
  const file = profilesFile(run.env);
  const profiles = { ...(await readAll(run.env)), [nameOf(run)]: profile };
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
    await chmod(file, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`${file} cannot be written (${code}): set HOLDFAST_BASE_URL and HOLDFAST_API_KEY instead`);
  }
}

/** All profiles. Throws UsageError when the file cannot be read, or holds something else. */
async function readAll(env: Environment): Promise<Readonly<Record<string, Profile>>> {
  const file = profilesFile(env);
  const text = await readFile(file, 'utf8').catch(({ code }: { code?: string }) => {
    if (code === 'ENOENT') return '{}';
    throw new UsageError(`${file} cannot be read: ${code}`);
  });
  const profiles = parsed(text);
  if (isRecord(profiles) && Object.values(profiles).every(isProfile)) return profiles as Record<string, Profile>;
  throw new UsageError(`${file} does not hold profiles: remove it, and run holdfast login`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isProfile(value: unknown): boolean {
  return isRecord(value) && typeof value.baseUrl === 'string' && typeof value.apiKey === 'string';
}
