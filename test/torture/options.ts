/** What a torture is told. */
export interface TortureOptions {
  readonly seed: number;
  /** How often; each torture has a number of its own when it is not told. */
  readonly runs?: number | undefined;
  /** Hears what happens while it does. */
  readonly tell?: (line: string) => void;
}
