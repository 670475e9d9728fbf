/** Part of a migration that is carried out as a whole. */
export interface Step {
  readonly statements: readonly string[];
  /** One statement outside of a transaction. */
  readonly isAlone: boolean;
}

/** What runs outside of a transaction: it takes long, and stops nobody. */
const ALONE = /\bconcurrently\b|\bvalidate\s+constraint\b/i;

/**
 * Divides the statements of a migration: an index that is built concurrently, or a constraint that is validated, is a
 * step by itself, and the statements between such ones are one transaction.
 */
export function stepsOf(statements: readonly string[]): Step[] {
  const steps: { statements: string[]; isAlone: boolean }[] = [];
  for (const text of statements) {
    const isAlone = ALONE.test(text);
    const last = steps.at(-1);
    if (last && !isAlone && !last.isAlone) last.statements.push(text);
    else steps.push({ statements: [text], isAlone });
  }
  return steps;
}
