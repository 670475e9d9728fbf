import { z } from 'zod';
import { pageOf, time } from '../../rest/schema/answer-fields.ts';
import { page } from '../../rest/schema/fields.ts';
import { merchantId, uuid, word } from './fields.ts';

const count = (description: string) => z.int().min(0).meta({ description });

/** Answer of GET /operator/overview. */
export const Overview = z
  .object({
    expiringHoldCount: count('Open holds that end within 24 hours'),
    unknownCount: count('Attempts whose outcome is unknown'),
    oldestUnknownAt: time('When the oldest of them was asked for').optional(),
    needsReviewCount: count('Attempts that only an operator can resolve'),
    frozenHoldCount: count('Frozen holds'),
    quarantinedCount: count('Notifications set aside, nothing decided'),
    deadDeliveryCount: count('Deliveries whose every attempt failed'),
    dueDeliveryCount: count('Deliveries whose next attempt is due'),
    oldestDueAt: time('When the oldest of them was due').optional(),
    pausedEndpointCount: count('Endpoints to which nothing is sent'),
    at: time('When this was so'),
  })
  .meta({ id: 'Overview', description: 'What may need attention; counts stop at 10 000' });

/** Query of GET /operator/overview/series. */
export const SeriesQuery = z
  .strictObject({
    minutes: z
      .string()
      .regex(/^(?:[1-9][0-9]?|1[0-7][0-9]|180)$/, 'must be 1 to 180')
      .meta({ description: 'Minutes, the present one included; default 60', examples: ['60'] })
      .optional(),
    merchantId: merchantId.optional(),
  })
  .meta({ id: 'Series' });

const Minute = z
  .object({
    start: time('When the minute began'),
    okCount: count('Operations that ended OK'),
    koCount: count('Operations that ended KO'),
    deliveryCount: count('Deliveries created'),
    deliveredCount: count('Those of them that are delivered by now'),
    verifiedCount: count('Notifications that the relay verified and accepted'),
    refusedCount: count('Notifications that the relay could not verify'),
  })
  .meta({ id: 'Minute' });

/** Answer of GET /operator/overview/series. */
export const Minutes = z.object({ items: z.array(Minute) }).meta({ id: 'Minutes', description: 'Oldest first' });

/** Query of GET /operator/audit. */
export const ListAuditQuery = z
  .strictObject({ target: word(128).optional(), action: word(64).optional(), ...page })
  .meta({ id: 'ListAudit' });

const AuditEntry = z
  .object({
    auditEntryId: uuid('entry'),
    at: time('When'),
    actor: z
      .string()
      .meta({ description: '"operator", or "operator/" and the name given', examples: ['operator/alice'] }),
    action: z.string().meta({ description: 'What', examples: ['preauthorization.capture'] }),
    target: z.string().meta({ description: 'To what: a requestId, merchantId or other id' }),
    detail: z.record(z.string(), z.unknown()).meta({ description: 'More about it; never a secret' }).optional(),
  })
  .meta({ id: 'AuditEntry' });

export const AuditPage = pageOf(AuditEntry).meta({ id: 'AuditPage', description: 'Newest first' });
