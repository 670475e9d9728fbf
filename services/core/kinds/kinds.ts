import type { SubmissionTable } from '../domain/kinds.ts';
import { CAPTURE } from './capture.ts';
import { HOLD } from './hold.ts';
import type { Kind } from './kind.ts';
import { OCT } from './oct.ts';
import { RELEASE } from './release.ts';

/** How the submissions of each table are sent and settled. */
export const KINDS: Readonly<Record<SubmissionTable, Kind>> = {
  hold: HOLD,
  capture: CAPTURE,
  release: RELEASE,
  oct: OCT,
};
