/** Files that are made from the code: `npm run generate` writes them, `npm run check` compares them. */
import { readFile, writeFile } from 'node:fs/promises';
import { ROOT } from './sources.ts';

/** A file, and how its text is made; of one that is made in part, from the text that it has. */
export type Generated = readonly [file: string, make: (is: string) => string | Promise<string>];

/** A table of a document: its header, then its rows. Cells are Markdown. */
export type Table = readonly (readonly string[])[];

/** Writes the files. */
export async function write(files: readonly Generated[]): Promise<void> {
  for (const [file, make] of files) await writeFile(ROOT + file, await make(await read(file)));
}

/** Returns a line for each file that is not current. */
export async function faultsOf(files: readonly Generated[]): Promise<string[]> {
  const faults = [];
  for (const [file, make] of files) {
    const is = await read(file);
    const difference = firstDifference(is, await make(is));
    if (difference !== undefined) faults.push(`${file}:${difference}; run npm run generate`);
  }
  return faults;
}

/** Its text; none when it is not there yet. */
function read(file: string): Promise<string> {
  return readFile(ROOT + file, 'utf8').catch(() => '');
}

/** Returns the first line in which two texts differ, as `line: is, should be`; undefined when they are equal. */
function firstDifference(actual: string, expected: string): string | undefined {
  if (actual === expected) return undefined;
  const [is, due] = [actual.split('\n'), expected.split('\n')];
  const line = is.findIndex((text, index) => text !== due[index]);
  const at = line === -1 ? is.length : line;
  return `${at + 1}: is ${quoted(is[at])}, should be ${quoted(due[at])}`;
}

function quoted(line: string | undefined): string {
  return line === undefined ? 'the end' : `"${line.trim().slice(0, 120)}"`;
}
