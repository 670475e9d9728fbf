/**
 * Faults of kinds that people reported of payment adapters: Stripe's and Adyen's in shops, and those of payment routers.
 * The comment behind each name says where.
 */
import { create } from '@bufbuild/protobuf';
import { timestampFromMs, timestampNow } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import {
  AuthorizationEnd,
  type ReportEventRequest,
  ReportEventRequestSchema,
} from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer, EntryKind } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Lie } from '../liar.ts';
import { approval, type Fault, listing, other, reporting, withResult } from './fault.ts';

/** Changes the result that an event of one kind tells. */
export function settledSays(change: (value: { requestId: string; result?: object | undefined }) => object): Lie {
  return reporting((request) => {
    const { event } = request;
    if (event.case !== 'operationSettled') return request;
    return { ...request, event: { ...event, value: { ...event.value, ...change(event.value) } } } as ReportEventRequest;
  });
}

export const REPORTED: readonly Fault[] = [
  {
    // medusajs/medusa#16681, saleor/apps#2446
    name: 'a second refund of the same amount taken for the first',
    checks: ['refunds: 10 at once'],
    why: /refunds of half the capture were approved/,
    lie: () => {
      const results = new Map<string, Promise<object>>();
      return {
        async refund(request, forward) {
          const key = `${request.captureRequestId} ${request.amount}`;
          const known = results.get(key);
          if (!known) results.set(key, forward(request));
          const response = (await results.get(key)) as Awaited<ReturnType<typeof forward>>;
          return known ? withResult(response, () => ({ requestId: request.requestId ?? '' })) : response;
        },
      };
    },
  },
  {
    // openfoodfoundation/openfoodnetwork#5829
    name: 'the rest of a capture not refunded after a part of it was',
    checks: ['refunds: up to the capture'],
    why: /refund with the token of its profile/,
    lie: () => {
      const captures = new Map<unknown, bigint>();
      const refundedOf = new Set<unknown>();
      return {
        async capture(request, forward) {
          captures.set(request.requestId, request.amount ?? 0n);
          return forward(request);
        },
        async refund(request, forward) {
          const { captureRequestId } = request;
          const isRest =
            refundedOf.has(captureRequestId) && (request.amount ?? 0n) * 2n > (captures.get(captureRequestId) ?? 0n);
          if (isRest) return forward({ ...request, amount: (captures.get(captureRequestId) ?? 0n) + 1n });
          const response = await forward(request);
          if (response.result?.answer === Answer.APPROVED) refundedOf.add(captureRequestId);
          return response;
        },
      };
    },
  },
  {
    // openfoodfoundation/openfoodnetwork#5258, solidusio/solidus_stripe#57
    name: 'a void that refunds what was captured, too',
    checks: ['refund: approved', 'voids: what is left of a hold'],
    why: /the books show what nobody asked for/,
    lie: () => {
      const captures = new Map<unknown, object>();
      let refund: ((request: object) => Promise<object>) | undefined;
      return {
        async capture(request, forward) {
          captures.set(request.authorizationRequestId, request);
          return forward(request);
        },
        async refund(request, forward) {
          refund = forward as never;
          return forward(request);
        },
        async void(request, forward) {
          const of = captures.get(request.authorizationRequestId) as { requestId: string } | undefined;
          const response = await forward(request);
          if (of) await refund?.({ ...other(of), captureRequestId: of.requestId });
          return response;
        },
      };
    },
  },
  {
    // Adyen/adyen-magento2#3309
    name: 'a reinstatement told as another reversal',
    checks: ['capture: approved', 'events: a reversal that is reinstated'],
    why: /no event captureReinstated/,
    eventWithinMs: 8_000,
    lie: () =>
      reporting((request) => {
        const { event } = request;
        if (event.case !== 'captureReinstated') return request;
        const { captureRequestId, amount, reference } = event.value;
        const value = { captureRequestId, amount, reference };
        return create(ReportEventRequestSchema, {
          eventId: request.eventId,
          ...(request.occurredAt && { occurredAt: request.occurredAt }),
          event: { case: 'captureReversed', value },
        });
      }),
  },
  {
    // Adyen/adyen-magento2#3315
    name: 'a dispute that names no capture is dropped',
    checks: ['events: a reversal that names no capture'],
    why: /no event captureReversed/,
    eventWithinMs: 8_000,
    lie: () => ({
      reportEvent: async (request, forward) =>
        request.event.case === 'captureReversed' && !request.event.value.captureRequestId ? {} : forward(request),
    }),
  },
  {
    // Adyen/adyen-magento2#2999
    name: 'a refused attempt that ends another hold of the same order',
    checks: [
      'authorization: approved',
      'authorization: declined',
      'events: a reversal of the whole',
      'events: each that came was asked for',
    ],
    why: /authorizationEnded of .*: nobody has asked for it/,
    lie: () => {
      const attempted = Promise.withResolvers<string>();
      let hold: string | undefined;
      let isRefused = false;
      let isSaid = false;
      return {
        async authorize(request, forward) {
          const response = await forward(request);
          if (response.result?.answer === Answer.APPROVED) hold ??= request.requestId;
          if (response.result?.answer === Answer.DECLINED) isRefused = true;
          if (hold !== undefined && isRefused) attempted.resolve(hold);
          return response;
        },
        // An event may come before these answers.
        async reportEvent(request, forward) {
          const requestId = await attempted.promise;
          if (!isSaid) {
            isSaid = true;
            const value = { requestId, end: AuthorizationEnd.VOIDED, amount: 1n, reference: '' };
            await forward(
              create(ReportEventRequestSchema, {
                eventId: uuidv7(),
                occurredAt: timestampNow(),
                event: { case: 'authorizationEnded', value },
              }),
            );
          }
          return forward(request);
        },
      };
    },
  },
  {
    // juspay/hyperswitch#5298
    name: 'the end of a refund reported of its capture',
    checks: ['refund: accepted, it ends in time'],
    why: /no event operationSettled/,
    eventWithinMs: 8_000,
    lie: () => {
      const captureOf = new Map<string, string>();
      return {
        async refund(request, forward) {
          captureOf.set(String(request.requestId), String(request.captureRequestId));
          return forward(request);
        },
        ...settledSays(({ requestId }) => ({ requestId: captureOf.get(requestId) ?? requestId })),
      };
    },
  },
  {
    // juspay/hyperswitch#3751
    name: 'the reference left out of a result that came later',
    checks: ['refund: accepted, it ends in time'],
    why: /the result of the event OperationSettled/,
    lie: () => settledSays(({ result }) => ({ result: { ...result, reference: '' } })),
  },
  {
    // juspay/hyperswitch#6602
    name: 'the error code left out of a refusal that came later',
    checks: ['capture: accepted, and refused later'],
    why: /the result of the event OperationSettled/,
    lie: () => settledSays(({ result }) => ({ result: { ...result, errorCode: '', errorMessage: '' } })),
  },
  {
    // docs.stripe.com/currencies: amounts of three decimals end in 0
    name: 'amounts of three decimals rounded to a multiple of ten',
    checks: ['large: currencies that count otherwise'],
    why: /the sums of the authorization in the books/,
    lie: () => {
      const rounded = <T extends { amount?: bigint; currency?: string }>(request: T): T =>
        request.currency === 'KWD' ? { ...request, amount: (((request.amount ?? 0n) + 9n) / 10n) * 10n } : request;
      return {
        authorize: (request, forward) => forward(rounded(request)),
        capture: (request, forward) => forward(rounded(request)),
      };
    },
  },
  {
    // docs.adyen.com, amountUpdates, and Stripe's increment_authorization take the new total
    name: 'a second increment that replaces the first',
    checks: ['increments: add to what'],
    why: /incremented is what increments added/,
    lie: () => {
      const last = new Map<string, bigint>();
      return {
        async incrementAuthorization(request, forward) {
          const response = await forward(request);
          if (response.result?.answer === Answer.APPROVED)
            last.set(String(request.authorizationRequestId), request.amount ?? 0n);
          return response;
        },
        ...listing((entry) => ({
          ...entry,
          incremented: entry.incremented > 0n ? (last.get(entry.requestId) ?? entry.incremented) : 0n,
        })),
      };
    },
  },
  {
    name: 'a second partial release that replaces the first',
    checks: ['partial releases: what they gave back'],
    why: /voided|voids and decreases/,
    lie: () => {
      const last = new Map<string, bigint>();
      return {
        async decreaseAuthorization(request, forward) {
          const response = await forward(request);
          if (response.result?.answer === Answer.APPROVED)
            last.set(String(request.authorizationRequestId), request.amount ?? 0n);
          return response;
        },
        ...listing((entry) => ({ ...entry, voided: last.get(entry.requestId) ?? entry.voided })),
      };
    },
  },
  {
    name: 'a partial release that stands in the books as a void',
    checks: ['decrease: approved', 'books: everything that was answered'],
    why: /kind is VOID, not DECREASE/,
    lie: () => listing((entry) => (entry.kind === EntryKind.DECREASE ? { ...entry, kind: EntryKind.VOID } : entry)),
  },
  {
    name: 'a partial release that is told and not done',
    checks: ['decrease: approved', 'partial releases: what they gave back'],
    why: /missing|voided/,
    lie: () => ({
      decreaseAuthorization: async (request, forward) => {
        const response = await forward({ ...request, amount: 900_000_000_000n });
        return withResult(response, ({ errorCode }) =>
          errorCode === 'amount_exceeds_authorization' ? { ...approval, actedAt: response.result?.actedAt } : {},
        );
      },
    }),
  },
  {
    // a time-out that is set anew by each look at it
    name: 'an expected end that moves with each inquiry',
    checks: ['refund: accepted, it ends in time'],
    why: /an inquiry moves expected_by/,
    lie: () => ({
      async inquire(request, forward) {
        const response = await forward(request);
        if (response.result?.answer !== Answer.ACCEPTED) return response;
        return withResult(response, () => ({ expectedBy: timestampFromMs(Date.now() + 10_000) }));
      },
    }),
  },
];
