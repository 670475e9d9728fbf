import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { SubmissionState } from '../../domain/kinds.ts';
import { readRow } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import { submissionColumns, submissionIndexes, submissionUniques } from '../operation/submission-columns.ts';

/** One original credit transaction: a payment to a card. */
export const OctEntity = defineEntity({
  name: 'Oct',
  tableName: 'oct',
  properties: {
    ...submissionColumns(),
    terminalId: p.text(),
    userId: p.text(),
    tokenId: p.text(),
    state: p.text().$type<SubmissionState>(),
    merchantReference: p.text().nullable(),
    cardBrand: p.text().nullable(),
    cardLast4: p.text().nullable(),
    cardExpiryMonth: p.integer().nullable(),
    cardExpiryYear: p.integer().nullable(),
    bankReference: p.text().nullable(),
    finalAt: p.datetime(3).nullable(),
  },
  checks: [
    { name: 'oct_amount', expression: 'amount >= 1 and amount <= 999999999999' },
    { name: 'oct_state', expression: "state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO')" },
    { name: 'oct_final_has_date', expression: "(state in ('OK', 'KO')) = (final_at is not null)" },
  ],
  indexes: [...submissionIndexes('oct')],
  uniques: submissionUniques('oct'),
});
export type OctRow = InferEntity<typeof OctEntity>;

/** Looks up an OCT. */
export function findOct(query: Query, requestId: string): Promise<OctRow | undefined> {
  return readRow<OctRow>(query, FIND_OCT, [requestId]);
}

const FIND_OCT: Statement = { name: 'find-oct', text: 'select * from oct where request_id = $1' };
