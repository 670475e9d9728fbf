import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** One attempt of a delivery. */
export const DeliveryAttemptEntity = defineEntity({
  name: 'DeliveryAttempt',
  tableName: 'delivery_attempt',
  properties: {
    deliveryId: p.uuid().primary(),
    number: p.integer().primary(),
    startedAt: p.datetime(3),
    latencyMs: p.integer(),
    /** Null = no answer. */
    httpStatus: p.integer().nullable(),
    /** Null = success. */
    error: p.text().nullable(),
    responseHead: p.text().nullable(),
  },
});
export type DeliveryAttemptRow = InferEntity<typeof DeliveryAttemptEntity>;
