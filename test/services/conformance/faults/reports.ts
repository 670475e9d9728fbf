import type { Entry } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Lie } from '../liar.ts';
import { type Fault, later, listing, reporting } from './fault.ts';

/** Events that say something wrong, or not. */
export const REPORTS: readonly Fault[] = [
  {
    name: 'a result that is reported once only',
    checks: ['events: operationSettled that was refused comes again'],
    why: /no event operationSettled/,
    eventWithinMs: 2_000,
    lie: () => ({ reportEvent: (request, forward) => forward(request).catch(() => ({})) }),
  },
  {
    name: 'a result that is reported otherwise than it is answered',
    checks: ['capture: accepted, it ends in time'],
    why: /the result of the event OperationSettled/,
    lie: () =>
      reporting((request) => {
        const { event } = request;
        if (event.case !== 'operationSettled' || !event.value.result) return request;
        const result = { ...event.value.result, reference: 'another' };
        return { ...request, event: { ...event, value: { ...event.value, result } } };
      }),
  },
  {
    name: 'an event of tomorrow',
    checks: ['events: a reversal of the whole', 'events: each allowed by the contract'],
    why: /occurred_at is/,
    lie: () => reporting((request) => ({ ...request, occurredAt: later(request.occurredAt, 1) })),
  },
  {
    name: 'a reversal of another amount',
    checks: ['events: a reversal of the whole'],
    why: /what was taken back/,
    lie: () => reversing(() => ({ amount: 1n })),
  },
  {
    name: 'a reversal in part that says all',
    checks: ['events: a reversal of a part'],
    why: /a part of the capture is less than/,
    lie: () => reversing(() => ({ amount: 1_000n })),
  },
  {
    name: 'an end that gives back another amount',
    checks: ['events: an authorization that ends by itself'],
    why: /what was left/,
    lie: () =>
      reporting((request) => {
        const { event } = request;
        if (event.case !== 'authorizationEnded') return request;
        return { ...request, event: { ...event, value: { ...event.value, amount: 1n } } };
      }),
  },
  {
    name: 'an end that is not in the books',
    checks: ['events: an authorization that ends by itself'],
    why: /ended_at of the authorization in the books/,
    lie: () => listing(({ endedAt: _, ...entry }) => entry as Entry),
  },
  {
    name: 'a reinstatement of another reversal',
    checks: ['events: a reversal that is reinstated'],
    why: /reversal_event_id/,
    lie: () =>
      reporting((request) => {
        const { event } = request;
        if (event.case !== 'captureReinstated') return request;
        return { ...request, event: { ...event, value: { ...event.value, reversalEventId: 'another' } } };
      }),
  },
];

function reversing(change: () => { amount: bigint }): Lie {
  return reporting((request) => {
    const { event } = request;
    if (event.case !== 'captureReversed') return request;
    return { ...request, event: { ...event, value: { ...event.value, ...change() } } };
  });
}
