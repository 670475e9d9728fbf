import assert from 'node:assert/strict';
import { NOTIFICATIONS } from '../../../gateway/openapi/webhooks.ts';
import { type OperationalSubject, operationalBody } from '../../../services/core/domain/notification-body.ts';
import { OPERATIONAL_TYPES, type OperationalType } from '../../../services/core/domain/notification-types.ts';

const AT = new Date('2026-11-21T16:00:00.000Z');
const ENDPOINT = { endpointId: 'default', failingSince: AT };

const SUBJECTS: Readonly<Record<OperationalType, OperationalSubject>> = {
  'endpoint.failing': { ...ENDPOINT, pause: 'BREAKER', pausedUntil: AT },
  'endpoint.disabled': { ...ENDPOINT, pause: 'GONE', failingSince: null },
  'delivery.dead': { endpointId: 'internal', delivery: { deliveryId: 'd', requestId: 'r', type: 'payment.captured' } },
  'signing_secret.expiring': { endpointId: 'default', signingSecretId: 's', expiresAt: AT },
};

describe('the notifications about endpoints and secrets', () => {
  const documented = Object.values(NOTIFICATIONS).flatMap(({ kind, words, schema, example }) =>
    words.map((word) => ({ type: `${kind}.${word}`, schema, example })),
  );

  for (const [type, status] of Object.entries(OPERATIONAL_TYPES) as [OperationalType, string][]) {
    it(`${type} is as documented`, () => {
      const one = documented.find((each) => each.type === type);
      assert(one);
      const of = { merchantId: 'acme', requestId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b', currency: 'EUR' };
      const body = JSON.parse(operationalBody(of, type, SUBJECTS[type], AT));
      assert.deepEqual([body.type, body.status, body.amount], [type, status, 0]);
      assert.deepEqual(one.schema.strict().parse(body), body);
      if (one.example.type === type) assert.deepEqual(Object.keys(one.example).sort(), Object.keys(body).sort());
    });
  }
});
