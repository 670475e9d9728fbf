/** Options of a torture. */
export interface TortureOptions {
  readonly seed: number;
  /** How often; by default a number that the torture chooses. */
  readonly runs?: number | undefined;
  /** For how long, where a torture is not counted. */
  readonly minutes?: number | undefined;
  /** A part of the names of what to play, where a torture is a list. */
  readonly only?: string | undefined;
  /** Receives progress lines. */
  readonly tell?: (line: string) => void;
}
