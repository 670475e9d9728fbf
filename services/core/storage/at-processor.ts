/** Which processor's rows a job works on, so that each has slots of its own. */
export interface AtProcessor {
  /** Only rows of these names; null = of every name … */
  readonly only: readonly string[] | null;
  /** … but these. */
  readonly butNot: readonly string[];
}

/** What a search for rows that are due returns: at most `limit`, without those of the requestIds `but`. */
export interface Search {
  readonly now: Date;
  readonly limit: number;
  readonly but: readonly string[];
}

/** Every row, wherever it was sent. */
export const AT_ANY_PROCESSOR: AtProcessor = { only: null, butNot: [] };

/** SQL of a condition on the column `processor`; the arguments are parameters. */
export function isAtProcessor(only: string, butNot: string): string {
  return `(${only}::text[] is null or processor = any (${only})) and processor <> all (${butNot}::text[])`;
}
