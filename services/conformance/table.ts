import type { Verdict } from './run.ts';

const WORDS = { passed: 'ok    ', failed: 'FAILED', skipped: '-     ' } as const;

/**
 * The verdicts as a table for people: one line each, with what was wrong below it; then for each risk how much of it
 * was checked, and why the rest was not; and a last line that counts them.
 */
export function tableOf(verdicts: readonly Verdict[]): string {
  const width = Math.max(0, ...verdicts.map(({ name }) => name.length));
  const lines = verdicts.map((verdict) => lineOf(verdict, width));
  const count = (outcome: Verdict['outcome']) => verdicts.filter((verdict) => verdict.outcome === outcome).length;
  const risks = [...Map.groupBy(verdicts, ({ risk }) => risk)].map(([risk, about]) => coverageOf(risk, about));
  const total = `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`;
  const isMostlySkipped = count('failed') === 0 && count('skipped') >= count('passed');
  const verdict = isMostlySkipped ? `${total}: not judged, because most was skipped` : total;
  return [...lines, '', 'Checked against', ...risks, '', verdict, ''].join('\n');
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

function coverageOf(risk: string, verdicts: readonly Verdict[]): string {
  const skipped = verdicts.filter(({ outcome }) => outcome === 'skipped');
  // "The profile names no token T": one line for all that are missing.
  const parts = skipped.map(({ why }) => /^(.* names no token) (.*)$/.exec(why) ?? ['', why, '']);
  const reasons = [...Map.groupBy(parts, ([, reason]) => reason)].map(([reason, about]) => {
    const tokens = [...new Set(about.map(([, , token]) => token))].join(', ');
    return `${about.length} × ${reason} ${tokens}`.trimEnd();
  });
  const failed = verdicts.filter(({ outcome }) => outcome === 'failed').length;
  const counts = `${verdicts.length - skipped.length} of ${verdicts.length}${failed > 0 ? `, ${failed} failed` : ''}`;
  return [`  ${risk}: ${counts}`, ...reasons.map((reason) => `      skipped: ${reason}`)].join('\n');
}
