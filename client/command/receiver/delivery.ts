import type { Sample, Sent } from './sample.ts';

/** From the best to the worst. */
export const GRADES = {
  A: 'nothing failed',
  B: 'what cannot be verified is refused, but with an error or silence instead of 4xx',
  C: 'a genuine notification of a rarer form is not accepted',
  D: 'ordinary notifications are lost or booked wrongly, or a recording is accepted',
  E: 'not even an ordinary notification is accepted, so nothing else was sent',
  F: 'a forged notification is accepted',
} as const;

export type Grade = keyof typeof GRADES;

/** One line of the check: what is sent, and what a receiver that fails has to mend. */
export interface Delivery {
  readonly name: string;
  readonly sends: string;
  /** The grade when a genuine one is not accepted (at worst D), or one that must be refused is. All else is a B. */
  readonly grade: Grade;
  readonly mend: string;
  /** The document, its section, and its point. */
  readonly read: string;
  requests(sample: Sample): readonly Sent[];
  /** All requests at the same time. */
  readonly isAtOnce?: true;
  /** All requests over one connection. */
  readonly isOneConnection?: true;
}
