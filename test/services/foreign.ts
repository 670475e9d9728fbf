/** Data files of processors' makers, which are no part of the project: they lie beside its root, or are absent. */
import { existsSync, readFileSync } from 'node:fs';

const printed = new Set<string>();

/** Reads one of them; undefined where it is absent, which is printed once. */
export function foreignFile<T>(path: string): T | undefined {
  const file = new URL(`../../../shared/foreign/${path}`, import.meta.url);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  if (!printed.has(path)) process.stdout.write(`skipped: ../shared/foreign/${path} is absent\n`);
  printed.add(path);
  return undefined;
}
