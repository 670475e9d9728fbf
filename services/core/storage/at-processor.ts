/** The processor whose rows a job works on. Each processor has slots of its own. */
export interface AtProcessor {
  /** Only rows of these names; null = of every name … */
  readonly only: readonly string[] | null;
  /** … but these. */
  readonly butNot: readonly string[];
}

/** Every row, wherever it was sent. */
export const AT_ANY_PROCESSOR: AtProcessor = { only: null, butNot: [] };

/** Returns whether the rows of a processor are selected. */
export function isAt({ only, butNot }: AtProcessor, processor: string): boolean {
  return (only === null || only.includes(processor)) && !butNot.includes(processor);
}
