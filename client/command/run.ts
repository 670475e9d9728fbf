/** What commands share: what they are, what they work with, and how they read it. */
import { Holdfast } from '../holdfast.ts';
import { readProfile } from './profile.ts';
import { UsageError } from './usage.ts';

/** What a command works with. */
export interface Run {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
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
  /** What it takes besides options; unset = nothing. */
  readonly args?: string;
  readonly what: string;
  /** Options with a value, and what each is; those of flags begin with "flag: ". */
  readonly options?: Readonly<Record<string, string>>;
  run(run: Run): Promise<void>;
}

/** The service that the profile names. Throws UsageError when there is none. */
export async function open(run: Run): Promise<Holdfast> {
  return new Holdfast(await readProfile(run.env, nameOf(run.options)));
}

/** The profile that is used. */
export function nameOf(options: Run['options']): string {
  return text(options, 'profile') ?? 'default';
}

/** The value of an option; undefined for a flag, or when it is absent. */
export function text(options: Run['options'], name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** The first argument. Throws UsageError when it is absent. */
export function argument({ args }: Run, name: string): string {
  const [value] = args;
  if (value === undefined) throw new UsageError(`${name} is needed`);
  return value;
}
