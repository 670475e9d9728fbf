import type { Statement } from './database.ts';
import { INSERT_HOLDS } from './hold/insert-holds.ts';
import { READ_HOLDS_OF_OPEN, READ_SUBJECTS } from './hold/read-holds.ts';
import { SETTLE_HOLDS } from './hold/settle-holds.ts';
import { AMEND_ENDED } from './submission/amend-ended.ts';
import { SETTLE_SUBMISSIONS } from './submission/settle-submissions.ts';
import { STORE_SUBMISSIONS } from './submission/store-submissions.ts';

/** The statements that every operation makes, in their order; services/core/statements.sql shows them whole. */
export const HOT_STATEMENTS: readonly Statement[] = [
  INSERT_HOLDS,
  SETTLE_HOLDS,
  READ_SUBJECTS,
  STORE_SUBMISSIONS,
  READ_HOLDS_OF_OPEN,
  SETTLE_SUBMISSIONS,
  AMEND_ENDED,
];
