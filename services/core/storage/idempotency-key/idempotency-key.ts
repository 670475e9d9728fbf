import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { SubmissionTable } from '../../domain/kinds.ts';
import type { SUBMISSIONS } from '../operation/submissions.ts';

/** A key a merchant sent with a request, written in the transaction that stored the operation it made. */
export const IdempotencyKeyEntity = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_key',
  properties: {
    merchantId: p.text().primary(),
    key: p.text().primary(),
    /** Which method made the operation. */
    method: p.text().$type<IdempotentMethod>(),
    /** SHA-256 over the business fields of the request. */
    fingerprint: p.blob().$type<Buffer>(),
    requestId: p.uuid(),
    createdAt: p.datetime(3),
  },
  indexes: [{ name: 'idempotency_key_age', properties: ['createdAt'] }],
});
export type IdempotencyKeyRow = InferEntity<typeof IdempotencyKeyEntity>;
/** The methods that take a key. */
export type IdempotentMethod = (typeof SUBMISSIONS)[SubmissionTable]['keyMethod'];
