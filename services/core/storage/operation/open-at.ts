import type { Query, Statement } from '../database.ts';
import { unionOfSubmissions } from './submissions.ts';

/** Whether something is open that was sent to a processor of one of these stored names: a hold that may yet end, or a submission without a result. */
export async function isAnythingOpenAt(query: Query, processors: readonly string[]): Promise<boolean> {
  const [row] = await query<{ open: boolean }>(IS_ANYTHING_OPEN, [processors]);
  return row?.open ?? false;
}

/** Each part is read by an index over just what is open, whose condition it repeats. */
const IS_ANYTHING_OPEN: Statement = {
  name: 'is-anything-open-at',
  text: `select exists (
      select from hold where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED' and processor = any ($1::text[])
    union all
      select from hold where phase = 'AWAITING_CHECKOUT' and processor = any ($1::text[])
    union all
    ${unionOfSubmissions(
      (table, { inReview }) => `select from ${table} s where s.inquire_at is not null and s.processor = any ($1::text[])
    union all
      select from ${table} s where ${inReview} and s.processor = any ($1::text[])`,
    )}) as open`,
};
