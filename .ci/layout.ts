/** What the linter cannot say about the tree. The names, length and shape of single files are rules of biome.json. */
import { readFile } from 'node:fs/promises';
import { ROOT } from './sources.ts';

/** Folders and files named after nothing in particular collect everything. */
const VAGUE = /(?:^|\/)(utils?|common|helpers?|lib|misc|shared|dto|interfaces)(?:\/|\.\w+$)/;

/** What may stand at the top level. */
const TOP = new Set([
  ...'package.json proto buf.gen.yaml services gateway test docker-compose.yml docker-compose.ha.yml tsconfig.json README.md'.split(
    ' ',
  ),
  ...'platform client bench docs .ci LICENSE Dockerfile package-lock.json biome.json buf.yaml'.split(' '),
  ...'.mocharc.mjs .npmrc .gitignore .dockerignore'.split(' '),
]);

/** Returns one line for each breach. */
export async function layoutFaults(paths: readonly string[]): Promise<string[]> {
  const own = paths.filter((path) => !path.startsWith('proto/gen/'));
  const texts = await Promise.all(own.map(async (path) => [path, await readFile(ROOT + path, 'utf8')] as const));
  return [
    ...own.filter((path) => VAGUE.test(path)).map((path) => `${path} has a name that says nothing`),
    ...[...new Set(own.map((path) => path.split('/')[0] ?? ''))]
      .filter((name) => !TOP.has(name))
      .map((name) => `${name} is at the top level`),
    ...texts.flatMap(([path, text]) => unfinished(path, text)),
  ];
}

/** Marks of what somebody meant to do later, spelled so that this line is none. */
const MARKS = /\b(TOD[O]|FIXM[E])\b/;

function unfinished(path: string, text: string): string[] {
  const lines = text.split('\n').flatMap((line, index) => (MARKS.test(line) ? [index + 1] : []));
  return lines.map((line) => `${path}:${line} leaves something to do`);
}
