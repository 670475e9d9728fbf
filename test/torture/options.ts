/** Options of a torture. */
export interface TortureOptions {
  readonly seed: number;
  /** How often; by default a number that the torture chooses. */
  readonly runs?: number | undefined;
  /** For how long, where a torture is not counted. */
  readonly minutes?: number | undefined;
  /** Receives progress lines. */
  readonly tell?: (line: string) => void;
}
