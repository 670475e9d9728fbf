import type { Verdict } from './run.ts';

const WORDS = { passed: 'ok    ', failed: 'FAILED', skipped: '-     ' } as const;

/** The verdicts as a table for people: one line each, with what was wrong below it, and a last line that counts them. */
export function tableOf(verdicts: readonly Verdict[]): string {
  const width = Math.max(0, ...verdicts.map(({ name }) => name.length));
  const lines = verdicts.map((verdict) => lineOf(verdict, width));
  const count = (outcome: Verdict['outcome']) => verdicts.filter((verdict) => verdict.outcome === outcome).length;
  return [...lines, `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`, ''].join('\n');
}

function lineOf({ name, outcome, why, ms }: Verdict, width: number): string {
  const head = `${WORDS[outcome]} ${name}`;
  if (outcome === 'skipped') return `${WORDS[outcome]} ${name.padEnd(width)}  skipped: ${why}`;
  if (outcome === 'passed') return `${WORDS[outcome]} ${name.padEnd(width)}  ${ms} ms`;
  return [
    head,
    ...why
      .trimEnd()
      .split('\n')
      .map((line) => `         ${line}`),
  ].join('\n');
}
