/** Faults of adapters, each a few lines around the sandbox's handlers, and the check of the kit that detects it. */
import { FOREIGN, OPEN_SERVERS } from './faults/access.ts';
import { ACTS } from './faults/acts.ts';
import { AFTERWARDS } from './faults/afterwards.ts';
import { CUT, LATER } from './faults/again.ts';
import { CROSSED } from './faults/crossed.ts';
import type { Fault } from './faults/fault.ts';
import { LEDGER, NAMES, PAGES } from './faults/ledger.ts';
import { CODES, REFUSALS_THAT_ARE_NONE, STATUSES } from './faults/refusals.ts';
import { RENEWALS } from './faults/renewals.ts';
import { REPORTED } from './faults/reported.ts';
import { REPORTED_BOOKS } from './faults/reported-books.ts';
import { REPORTED_TOO } from './faults/reported-too.ts';
import { REPORTS } from './faults/reports.ts';
import { RESULTS } from './faults/results.ts';
import { STEP_UPS } from './faults/step-up.ts';
import { GIVEN_UP, UNASKED } from './faults/unasked.ts';

export const FAULTS: readonly Fault[] = [
  ...ACTS,
  ...REFUSALS_THAT_ARE_NONE,
  ...CODES,
  ...STATUSES,
  ...OPEN_SERVERS,
  ...FOREIGN,
  ...RESULTS,
  ...LEDGER,
  ...NAMES,
  ...REPORTS,
  ...PAGES,
  ...LATER,
  ...CUT,
  ...CROSSED,
  ...UNASKED,
  ...GIVEN_UP,
  ...AFTERWARDS,
  ...REPORTED,
  ...REPORTED_BOOKS,
  ...REPORTED_TOO,
  ...STEP_UPS,
  ...RENEWALS,
];
