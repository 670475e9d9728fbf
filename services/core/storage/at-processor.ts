/** Which processor's rows a job works on, so that each has slots of its own. */
export interface AtProcessor {
  /** Only rows of these names; null = of every name … */
  readonly only: readonly string[] | null;
  /** … but these. */
  readonly butNot: readonly string[];
}

/** Every row, wherever it was sent. */
export const AT_ANY_PROCESSOR: AtProcessor = { only: null, butNot: [] };

/** Whether rows of a processor are among them. */
export function isAt({ only, butNot }: AtProcessor, processor: string): boolean {
  return (only === null || only.includes(processor)) && !butNot.includes(processor);
}
