/**
 * Reads a command line, runs its command, and prints what came of it. Exit codes: 0 done, 1 refused or
 * failed, 2 usage, 3 not known.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { HoldfastError } from '../refusal.ts';
import { VERSION } from '../version.ts';
import { readable } from './amount.ts';
import { CommandFailed } from './command-failed.ts';
import { COMMANDS as OTHERS } from './commands.ts';
import { OutcomeUnknown } from './payments.ts';
import type { Command, Run } from './run.ts';
import { UsageError } from './usage-error.ts';

/** Options of every command. */
const COMMON = {
  json: 'flag: print JSON, amounts in minor units',
  profile: 'which login, default "default"',
  ca: 'file with certificates (PEM) that are trusted, too',
  help: 'flag: explain',
};

const COMMANDS: Readonly<Record<string, Command>> = {
  ...OTHERS,
  completion: {
    args: 'bash|zsh',
    what: 'print a script that completes commands',
    async run({ args: [shell], tell }) {
      const script = completion(shell);
      tell(script, { shell, script });
    },
  },
};

/** The input and output of a run; tests replace them. */
interface Outside {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  readonly ask?: Run['ask'];
  readonly signal?: AbortSignal;
}

/** Runs a command line. Returns its exit code. */
export async function main(line: readonly string[], outside: Outside = PROCESS): Promise<number> {
  const [name = 'help', ...rest] = line;
  const { out, err } = outside;
  try {
    if (name === 'help' || name === '--help') out(help());
    else if (name === 'version' || name === '--version') out(VERSION);
    else await run(name, rest, outside);
    return 0;
  } catch (error) {
    const end = endOf(error);
    if (line.includes('--json')) out(JSON.stringify(end));
    else err([end.code && `${end.code}:`, end.message, end.code && end.requestId].filter(Boolean).join(' '));
    return end.exitCode;
  }
}

/** How a command ended that was not done, as --json prints it. */
interface CommandEnd {
  readonly outcome: 'refused' | 'failed' | 'unknown' | 'usage';
  /** The service's, of a refusal. */
  readonly code?: string;
  readonly message: string;
  readonly requestId?: string | undefined;
  readonly exitCode: number;
}

/** Throws what is a fault of this program. */
function endOf(error: unknown): CommandEnd {
  if (error instanceof OutcomeUnknown) return { ...error.unknown, message: error.message, exitCode: 3 };
  if (error instanceof HoldfastError) {
    const { code, status, message, requestId, problem } = error;
    const refusal = { outcome: 'refused', code, status, message, requestId, problem, exitCode: 1 } as const;
    return refusal;
  }
  if (error instanceof CommandFailed) {
    return { outcome: 'failed', message: error.message, ...error.findings, exitCode: 1 };
  }
  const { code, message } = error as { code?: string; message: string };
  if (!(error instanceof UsageError) && !/^ERR_PARSE_ARGS/.test(String(code))) throw error;
  return { outcome: 'usage', message, exitCode: 2 };
}

async function run(name: string, rest: readonly string[], outside: Outside): Promise<void> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`there is no command ${name}; these are: ${Object.keys(COMMANDS).join(', ')}`);
  const known = Object.entries({ ...command.options, ...COMMON });
  const types = known.map(([option, what]) => [option, typeOf(what)]);
  const { values, positionals } = parseArgs({
    args: [...rest],
    options: Object.fromEntries(types) as Record<string, ReturnType<typeof typeOf>>,
    allowPositionals: true,
  });
  // One object: each option has the type that its description gives it.
  const [options, lists, flags] = [values as Run['options'], values as Run['lists'], values as Run['flags']];
  if (flags.help === true) return outside.out(helpOf(name));
  demandNoMore(name, command, positionals);
  const { env, out, err } = outside;
  const isJson = flags.json === true;
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  for (const signal of ENDS) process.once(signal, interrupt);
  try {
    await command.run({
      args: positionals,
      options,
      lists,
      flags,
      env,
      signal: outside.signal ?? interrupted.signal,
      show: (what) => out(isJson ? JSON.stringify(what) : table(readable(what) as typeof what)),
      tell: (text, record) => out(isJson ? JSON.stringify(record) : text),
      warn: (text, record) => err(isJson ? JSON.stringify(record) : text),
      ask: outside.ask ?? ask,
    });
  } finally {
    for (const signal of ENDS) process.off(signal, interrupt);
  }
}

/** Of the terminal, and of whoever ends processes. */
const ENDS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function typeOf(what: string): { type: 'boolean' | 'string'; multiple: boolean } {
  return { type: what.startsWith('flag: ') ? 'boolean' : 'string', multiple: what.startsWith('several: ') };
}

/**
 * Throws UsageError for an argument that the command does not take: `refund ID 5` must not refund everything, as it
 * does without --amount.
 */
function demandNoMore(name: string, { args = '' }: Command, given: readonly string[]): void {
  const surplus = given[args === '' ? 0 : 1];
  if (surplus === undefined || args.endsWith('…')) return;
  throw new UsageError(`${surplus} is one argument too many: ${name} takes ${args || 'options only'}`);
}

function help(): string {
  const lines = Object.entries(COMMANDS).map(([name, { args = '', what }]) => {
    const usage = `  ${name} ${args}`.padEnd(26);
    return usage.length > 26 ? `${usage}\n${' '.repeat(27)}${what}` : `${usage} ${what}`;
  });
  return [
    'holdfast COMMAND [OPTIONS]',
    '',
    ...lines,
    '',
    'holdfast COMMAND --help explains its options; holdfast --version says which version this is.',
  ].join('\n');
}

function helpOf(name: string): string {
  const { args = '', what = '', options = {} } = COMMANDS[name] ?? {};
  const lines = Object.entries({ ...options, ...COMMON }).map(
    ([option, meaning]) =>
      `  --${option.padEnd(12)} ${meaning.replace('flag: ', '').replace(/^several: (.*)/, '$1; may be repeated')}`,
  );
  return [`holdfast ${name} ${args}`.trim(), what, '', ...lines].join('\n');
}

/**
 * A script that completes commands and their options in a shell. Throws UsageError for another shell than bash and zsh.
 */
function completion(shell: string | undefined): string {
  const names = Object.keys(COMMANDS).join(' ');
  const cases = Object.entries(COMMANDS).map(([name, { options = {} }]) => {
    const words = [...Object.keys(options), ...Object.keys(COMMON)].map((option) => `--${option}`);
    return `    ${name}) words="${words.join(' ')}" ;;`;
  });
  const bash = [
    '_holdfast() {',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own.
    '  local words="" current="${COMP_WORDS[COMP_CWORD]}"',
    `  if [ "$COMP_CWORD" = 1 ]; then words="${names}"; else`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own.
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    '  esac; fi',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -F _holdfast holdfast',
  ].join('\n');
  if (shell === 'bash') return bash;
  if (shell === 'zsh') return `autoload -U +X bashcompinit && bashcompinit\n${bash}`;
  throw new UsageError('completion bash, or completion zsh');
}

/** Several records as columns, one as lines. */
function table(what: readonly object[] | object): string {
  const text = (value: unknown) =>
    typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
  if (!Array.isArray(what)) {
    const shown = Object.entries(what).filter(([, value]) => value !== undefined);
    const width = Math.max(0, ...shown.map(([name]) => name.length));
    return shown.map(([name, value]) => `${name.padEnd(width)}  ${text(value)}`).join('\n');
  }
  if (what.length === 0) return 'none';
  const names = Object.keys(what[0]);
  const rows = [names, ...what.map((row) => names.map((name) => text(row[name])))];
  const widths = names.map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)));
  const padded = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] as number)));
  return padded.map((row) => row.join('  ').trimEnd()).join('\n');
}

/**
 * Asks on the terminal; a secret is not echoed. Without a terminal the answer is the next line of standard input. Throws
 * UsageError when there is none.
 */
async function ask(question: string, isSecret: boolean): Promise<string> {
  process.stderr.write(question);
  const answer = await (process.stdin.isTTY ? typed(isSecret) : nextLine());
  if (answer === undefined) throw new UsageError('standard input ended: an answer is needed');
  return answer.trim();
}

async function typed(isSecret: boolean): Promise<string | undefined> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = isSecret ? silent : process.stderr;
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return await Promise.race([reader.question(''), once(reader, 'close').then(() => undefined)]);
  } finally {
    reader.close();
    if (isSecret) process.stderr.write('\n');
  }
}

/** One reader for all questions: what one has read ahead, the next one would miss. */
let lines: AsyncIterator<string> | undefined;

async function nextLine(): Promise<string | undefined> {
  lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  process.stdin.resume();
  const { value, done } = await lines.next();
  // A pipe that stays open must not keep the process from ending.
  process.stdin.pause();
  return done === true ? undefined : value;
}

const PROCESS: Outside = {
  env: process.env,
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
};
