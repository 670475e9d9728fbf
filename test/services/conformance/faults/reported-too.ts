/** More faults of kinds that people reported of payment adapters. */
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import type { ReportEventRequest } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { type Fault, listing, reporting, telling, withResult } from './fault.ts';

/** What a dispute costs the merchant. */
const FEE = 15n;

export const REPORTED_TOO: readonly Fault[] = [
  {
    // a dispute's balance transaction has the fee in it
    name: 'a reversal in part with the fee of the dispute in it',
    checks: ['two captures: of the one that was taken back in part'],
    why: /a refund of more than is left/,
    lie: () => ({
      ...reporting((request) => {
        const { event } = request;
        if (event.case !== 'captureReversed' || event.value.amount !== 500n) return request;
        return {
          ...request,
          event: { ...event, value: { ...event.value, amount: event.value.amount + FEE } },
        } as ReportEventRequest;
      }),
      ...listing((entry) => (entry.reversed === 500n ? { ...entry, reversed: entry.reversed + FEE } : entry)),
    }),
  },
  {
    // events named by the dispute, which is the same for both
    name: 'one event_id for a reversal and its reinstatement',
    checks: ['events: a reversal that is reinstated'],
    why: /reversal_event_id/,
    lie: () =>
      reporting((request) =>
        request.event.case === 'captureReversed' || request.event.case === 'captureReinstated'
          ? { ...request, eventId: `dispute-${request.event.value.captureRequestId}` }
          : request,
      ),
  },
  {
    // over-capture that restaurants have
    name: 'captures of a tenth more than was reserved, of which the hold is booked',
    checks: ['captures: the whole'],
    why: /a capture of more than was reserved: was answered APPROVED/,
    lie: () => {
      const holds = new Map<unknown, bigint>();
      return {
        async authorize(request, forward) {
          holds.set(request.requestId, request.amount ?? 0n);
          return forward(request);
        },
        async capture(request, forward) {
          const whole = holds.get(request.authorizationRequestId) ?? 0n;
          const amount = request.amount ?? 0n;
          const isTip = amount > whole && amount <= whole + whole / 10n;
          return isTip
            ? withResult(await forward({ ...request, amount: whole }), () => ({ amount }))
            : forward(request);
        },
      };
    },
  },
  {
    // a dispute that was won stays "disputed"
    name: 'what was reinstated cannot be refunded',
    checks: ['events: a reversal that is reinstated'],
    why: /refund with the token of its profile/,
    lie: () => {
      const won = new Set<unknown>();
      return {
        async refund(request, forward) {
          return forward(won.has(request.captureRequestId) ? { ...request, amount: 900_000_000_000n } : request);
        },
        async reportEvent(request, forward) {
          if (request.event.case === 'captureReinstated') won.add(request.event.value.captureRequestId);
          return forward(request);
        },
      };
    },
  },
  {
    name: 'an extension that ends the hold sooner',
    checks: ['extensions: never'],
    why: /expires_at/,
    lie: () =>
      telling('extendAuthorization', ({ expiresAt }) =>
        expiresAt ? { expiresAt: timestampFromMs(timestampMs(expiresAt) - 3_600_000 * 48) } : {},
      ),
  },
  {
    name: 'another identity for each that asks',
    checks: ['describe: says what'],
    why: /a second Describe/,
    lie: () => ({ describe: async (request, forward) => ({ ...(await forward(request)), identity: uuidv7() }) }),
  },
  {
    name: 'no entry on a page for which no size was asked',
    checks: ['captures: the whole', 'books: pages'],
    why: /a page for which no size was asked/,
    lie: () => ({
      listEntries: async (request, forward) =>
        request.pageSize ? forward(request) : { ...(await forward(request)), entries: [], nextPageToken: '' },
    }),
  },
  {
    name: "a void of another account's authorization that finds nothing left",
    checks: ['void: of one'],
    why: /authorization_not_found, not authorization_mismatch/,
    lie: () =>
      telling('void', ({ errorCode }) =>
        errorCode === 'authorization_mismatch' ? { errorCode: 'authorization_not_found' } : {},
      ),
  },
  {
    name: 'a later result said to be of before it was asked for',
    checks: ['refund: accepted, it ends in time', 'events: each allowed by the contract'],
    why: /before the authorization that it is about/,
    lie: () => {
      const startedMs = Date.now() - 60_000;
      return reporting((request) =>
        request.event.case === 'operationSettled' ? { ...request, occurredAt: timestampFromMs(startedMs) } : request,
      );
    },
  },
];
