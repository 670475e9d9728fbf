import { codeOf, countOf, type Verdict } from './run.ts';

const WORDS = { passed: 'ok    ', failed: 'FAILED', skipped: '-     ', noMatter: '-     ' } as const;

/**
 * The verdicts as a table for people: one line each, with what was wrong below it; then for each risk how much of it
 * was checked, and why the rest was not; and a last line that counts them.
 */
export function tableOf(verdicts: readonly Verdict[]): string {
  const width = Math.max(0, ...verdicts.map(({ name }) => name.length));
  const lines = verdicts.map((verdict) => lineOf(verdict, width));
  const risks = [...Map.groupBy(verdicts, ({ risk }) => risk)].map(([risk, about]) => coverageOf(risk, about));
  const { passed, failed, skipped, noMatter } = countOf(verdicts);
  const total = `${passed} passed, ${failed} failed, ${skipped} skipped, ${noMatter} no matter of this processor`;
  const verdict = codeOf(verdicts) === 2 ? `${total}: not judged, because most was skipped` : total;
  return [...lines, '', 'Checked against', ...risks, '', verdict, ''].join('\n');
}

function lineOf({ name, outcome, why, ms }: Verdict, width: number): string {
  if (outcome === 'failed') return `${WORDS.failed} ${name}\n${why.trimEnd().replace(/^/gm, '         ')}`;
  const told = { skipped: `skipped: ${why}`, noMatter: why, passed: `${ms} ms` }[outcome];
  return `${WORDS[outcome]} ${name.padEnd(width)}  ${told}`;
}

function coverageOf(risk: string, verdicts: readonly Verdict[]): string {
  const skipped = verdicts.filter(({ outcome }) => outcome === 'skipped');
  // "The profile names no token T": one line for all that are missing.
  const parts = skipped.map(({ why }) => /^(.* names no token) (.*)$/.exec(why) ?? ['', why, '']);
  const reasons = [...Map.groupBy(parts, ([, reason]) => reason)].map(([reason, about]) => {
    const tokens = [...new Set(about.map(([, , token]) => token))].join(', ');
    return `${about.length} × ${reason} ${tokens}`.trimEnd();
  });
  const { failed, noMatter } = countOf(verdicts);
  const all = verdicts.length - noMatter;
  const counts = `${all - skipped.length} of ${all}${failed > 0 ? `, ${failed} failed` : ''}`;
  return [`  ${risk}: ${counts}`, ...reasons.map((reason) => `      skipped: ${reason}`)].join('\n');
}
