import { STORED_UNNAMED } from '../domain/processor-name.ts';

/** Which processor's rows a job works on, so that each has slots of its own. */
export interface AtProcessor {
  /** Only rows of these names; null = of every name … */
  readonly only: readonly string[] | null;
  /** … but these. */
  readonly butNot: readonly string[];
}

/** Every row, wherever it was sent. */
export const AT_ANY_PROCESSOR: AtProcessor = { only: null, butNot: [] };

/** SQL of a condition on the column `processor`; the arguments are parameters. */
export function isAtProcessor(only: string, butNot: string): string {
  return `(${only}::text[] is null or processor = any (${only})) and processor <> all (${butNot}::text[])`;
}

/** SQL: the name of the processor of a row `s`; `unnamed` is a parameter, the name by which the only one before is known today. */
export function processorToday(unnamed: string): string {
  return `case when s.processor in (${STORED_UNNAMED.map((name) => `'${name}'`).join(', ')}) then ${unnamed} else s.processor end`;
}
