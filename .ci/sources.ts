/** The project's own source files, what each of them imports, and the programs that read them. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Program, parse, Visitor } from 'oxc-parser';

/** Where the project lies, with a slash at its end. */
export const ROOT: string = fileURLToPath(new URL('../', import.meta.url));

/** Runs a program, of node_modules/.bin if it is there. Returns its output; throws it when the program fails. */
export async function runTool(program: string, args: readonly string[]): Promise<string> {
  const PATH = `${ROOT}node_modules/.bin:${process.env.PATH}`;
  const options = { cwd: ROOT, env: { ...process.env, PATH, NO_COLOR: '1' }, maxBuffer: 2 ** 26 };
  try {
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`${stdout}${stderr}`.trim() || message, { cause: error });
  }
}

/** A parsed source file. */
export interface Source {
  /** From the project's root, such as `gateway/core/client.ts`. */
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  readonly imports: readonly Import[];
}

/** One import, export-from, import() or import type. */
export interface Import {
  readonly specifier: string;
  /** What it names: a path from the root for the project's own files, else the package's name or `node:…`. */
  readonly target: string;
  /** `import type`: nothing is loaded. */
  readonly isType: boolean;
}

/** Every file of the project that is tracked or about to be: ignored and deleted ones are left out. */
export async function listFiles(): Promise<string[]> {
  return (await runTool('git', ['ls-files', '-z', '-co', '--exclude-standard']))
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(ROOT, path)))
    .sort();
}

/** Parses every TypeScript and JavaScript file that is not generated. Throws on the first that does not parse. */
export async function readSources(): Promise<Source[]> {
  const paths = (await listFiles()).filter((path) => /\.(ts|mjs|js)$/.test(path) && !path.startsWith('proto/gen/'));
  return Promise.all(paths.map(async (path) => readSource(path, await readFile(join(ROOT, path), 'utf8'))));
}

/** Parses one source text, as if it lay at that path. */
export async function readSource(path: string, text: string): Promise<Source> {
  const { program, errors } = await parse(path, text);
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  return { path, text, program, imports: importsOf(path, program) };
}

function importsOf(path: string, program: Program): Import[] {
  const found: Import[] = [];
  const add = (specifier: string, isType: boolean) =>
    found.push({ specifier, target: targetOf(path, specifier), isType });
  new Visitor({
    ImportDeclaration({ source, importKind }) {
      add(source.value, importKind === 'type');
    },
    ExportNamedDeclaration({ source, exportKind }) {
      if (source !== null) add(source.value, exportKind === 'type');
    },
    ExportAllDeclaration({ source, exportKind }) {
      add(source.value, exportKind === 'type');
    },
    ImportExpression({ source }) {
      if (source.type === 'Literal') add(String(source.value), false);
    },
    TSImportType({ source }) {
      add(source.value, true);
    },
  }).visit(program);
  return found;
}

/** `./x.ts` seen from a file, `@scope/name/x` and `name/x` as packages. */
function targetOf(path: string, specifier: string): string {
  if (specifier.startsWith('.')) return join(dirname(path), specifier);
  if (specifier.startsWith('node:')) return specifier;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
