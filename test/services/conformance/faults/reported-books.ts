/**
 * Faults of books, inquiries and checkouts that people reported of payment adapters. The comment behind each name says
 * where.
 */
import { type Timestamp, timestampMs, timestampNow } from '@bufbuild/protobuf/wkt';
import { Answer, type Entry, EntryKind } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Lie } from '../liar.ts';
import { type Fault, listing, telling, withResult } from './fault.ts';
import { settledSays } from './reported.ts';

const msOf = (time: Timestamp | undefined) => (time ? timestampMs(time) : 0);

export const REPORTED_BOOKS: readonly Fault[] = [
  {
    // a page kept by order, not by attempt
    name: 'two checkouts under one address',
    checks: ['checkouts: opened once'],
    why: /the address of another page/,
    lie: () => {
      let address: string | undefined;
      return {
        async createCheckout(request, forward) {
          const response = await forward(request);
          address ??= response.checkoutUrl;
          return { ...response, checkoutUrl: address };
        },
      };
    },
  },
  {
    name: 'a look that fences without being asked to',
    checks: ['capture: fenced, it never acts'],
    why: /fenced/,
    lie: () => ({
      inquire: async (request, forward) => {
        const response = await forward({ ...request, fence: true });
        return request.fence ? response : { ...response, fenced: false };
      },
    }),
  },
  {
    name: 'what changed at the very time that was asked for left out',
    checks: ['books: what changed since'],
    why: /the time asked for is one of those listed/,
    lie: () => ({
      async listEntries(request, forward) {
        const response = await forward(request);
        const from = msOf(request.changedFrom as Timestamp | undefined);
        return {
          ...response,
          entries: response.entries.filter(({ changedAt }) => from === 0 || msOf(changedAt) !== from),
        };
      },
    }),
  },
  {
    name: 'a merchant whose name begins with another one sees its entries',
    checks: ['books: of one merchant'],
    why: /entries of another merchant than asked for/,
    lie: () => ({
      async listEntries(request, forward) {
        const { merchantId = '' } = request;
        if (merchantId === '') return forward(request);
        const response = await forward({ ...request, merchantId: '' });
        return { ...response, entries: response.entries.filter((entry) => entry.merchantId.startsWith(merchantId)) };
      },
    }),
  },
  {
    // one charge of Stripe's for several captures
    name: 'one reference for all holds of an amount',
    checks: ['authorization: approved', 'captures: the whole', 'books: no two authorizations'],
    why: /charge-of-10000/,
    lie: () => {
      const named = (entry: { amount?: bigint | undefined }) => `charge-of-${entry.amount ?? 0n}`;
      const inBooks: Lie = listing((entry) =>
        entry.kind === EntryKind.AUTHORIZATION && entry.reference !== ''
          ? { ...entry, reference: named(entry) }
          : entry,
      );
      const amounts = new Map<unknown, bigint>();
      return {
        ...telling('authorize', ({ answer }, { requestId, amount }) => {
          amounts.set(requestId, amount as bigint);
          return answer === Answer.APPROVED ? { reference: named({ amount: amount as bigint }) } : {};
        }),
        inquire: async (request, forward) =>
          withResult(await forward(request), (result) =>
            amounts.has(request.requestId) && result.answer === Answer.APPROVED
              ? { reference: named({ amount: amounts.get(request.requestId) }) }
              : {},
          ),
        ...settledSays(({ requestId, result }) => ({
          result: amounts.has(requestId) ? { ...result, reference: named({ amount: amounts.get(requestId) }) } : result,
        })),
        ...inBooks,
      };
    },
  },
  {
    name: 'a capture that does not change when it is refunded or taken back',
    checks: ['books: what changed since'],
    why: /the order of changes|since before it/,
    lie: () => {
      const first = new Map<string, Entry['changedAt']>();
      return {
        async capture(request, forward) {
          first.set(String(request.requestId), timestampNow());
          return forward(request);
        },
        async listEntries(request, forward) {
          const response = await forward(request);
          const from = msOf(request.changedFrom as Timestamp | undefined);
          const entries = response.entries
            .map((entry) => (first.has(entry.requestId) ? { ...entry, changedAt: first.get(entry.requestId) } : entry))
            .filter(({ changedAt }) => from === 0 || msOf(changedAt) >= from);
          return { ...response, entries } as typeof response;
        },
      };
    },
  },
];
