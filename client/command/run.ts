/** The common parts of commands: their descriptions, surroundings and arguments. */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Holdfast } from '../holdfast.ts';

/** Thrown for a command line that cannot be understood: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The surroundings of a command. */
export interface Run {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, string | undefined>>;
  /** Options that may be given several times. */
  readonly lists: Readonly<Record<string, readonly string[] | undefined>>;
  readonly flags: Readonly<Record<string, boolean | undefined>>;
  readonly env: Environment;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** Prints a record or several: a table for people, JSON with --json. */
  show(rows: readonly object[] | object): void;
  /** Prints one of many that come: the line for people, the record with --json. */
  tell(line: string, record: object): void;
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
  return new Holdfast(await readProfile(run));
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
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'holdfast', 'profiles.json');
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
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
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
