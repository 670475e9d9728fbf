import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { v7 as uuidv7 } from 'uuid';
import { Answer, EntryKind, Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Lie } from '../liar.ts';
import { again, approval, type Fault, other, withResult } from './fault.ts';

/** What an identifier means, amounts, books and events: one fault or two of each. */
export const ACTS: readonly Fault[] = [
  {
    name: 'forgets an identifier',
    checks: ['capture: repeated, the same answer'],
    why: /the answer to a repeated request/,
    lie: () => {
      const seen = new Set<unknown>();
      return {
        capture(request, forward) {
          const known = seen.has(request.requestId);
          seen.add(request.requestId);
          return known ? again(request, forward) : forward(request);
        },
      };
    },
  },
  {
    name: 'two at once both act',
    checks: ['capture: 20 times at once, done once'],
    why: /two answers under one identifier|what nobody asked for/,
    lie: () => {
      const underWay = new Set<unknown>();
      return {
        async capture(request, forward) {
          if (underWay.has(request.requestId)) return again(request, forward);
          underWay.add(request.requestId);
          return forward(request).finally(() => underWay.delete(request.requestId));
        },
      };
    },
  },
  {
    name: 'compares the reference of the authorization in a repetition',
    checks: ['capture: repeated, the same answer'],
    why: /the answer to a repeated request/,
    lie: () => {
      const references = new Map<unknown, unknown>();
      return {
        async capture(request, forward) {
          const { requestId, authorizationReference: reference = '' } = request;
          const isOther = references.has(requestId) && references.get(requestId) !== reference;
          references.set(requestId, references.get(requestId) ?? reference);
          const reused = { answer: Answer.NOT_PERFORMED, errorCode: 'identifier_reused' };
          return withResult(await forward(request), () => (isOther ? reused : {}));
        },
      };
    },
  },
  {
    name: 'an answer that changes',
    checks: ['authorization: repeated, the same answer'],
    why: /the answer to a repeated request/,
    lie: () => ({
      authorize: async (request, forward) => withResult(await forward(request), () => ({ reference: uuidv7() })),
    }),
  },
  {
    name: 'accepts another request under an identifier',
    checks: ['capture: another request under its identifier, refused'],
    why: /was answered APPROVED/,
    lie: () => {
      const kept = new Map<unknown, ReturnType<Parameters<NonNullable<Lie['capture']>>[1]>>();
      return {
        capture(request, forward) {
          const answer = kept.get(request.requestId) ?? forward(request);
          kept.set(request.requestId, answer);
          return answer;
        },
      };
    },
  },
  {
    name: 'a fence that leaks',
    checks: ['authorization: fenced, it never acts'],
    why: /an identifier that was fenced: was answered APPROVED/,
    lie: () => ({
      async authorize(request, forward) {
        const response = await forward(request);
        return response.result?.errorCode === 'fenced' ? again(request, forward) : response;
      },
    }),
  },
  {
    name: 'a fence that is only promised',
    checks: ['capture: fenced, it never acts'],
    why: /an identifier that was fenced: was answered APPROVED/,
    lie: () => ({
      async inquire(request, forward) {
        const response = await forward({ ...request, fence: false });
        return { ...response, fenced: request.fence === true && response.finding === Finding.NEVER_SEEN };
      },
    }),
  },
  {
    name: 'does not find what it did',
    checks: ['capture: its answer lost'],
    why: /its answer was lost/,
    lie: () => ({
      async inquire(request, forward) {
        const { result: _, ...response } = await forward(request);
        return { ...response, finding: Finding.NEVER_SEEN, fenced: true };
      },
    }),
  },
  {
    name: 'a capture counted twice',
    checks: ['captures: several, up to the whole'],
    why: /the books show what nobody asked for/,
    lie: () => ({
      async capture(request, forward) {
        const response = await forward(request);
        await forward(other(request));
        return response;
      },
    }),
  },
  {
    name: 'a capture of more than was reserved accepted',
    checks: ['captures: the whole, and not a unit more'],
    why: /a capture of more than was reserved: was answered APPROVED/,
    lie: () => ({
      capture: async (request, forward) =>
        withResult(await forward(request), ({ errorCode }) =>
          errorCode === 'amount_exceeds_authorization' ? approval : {},
        ),
    }),
  },
  {
    name: 'a final capture that keeps the rest',
    checks: ['captures: a final one gives the rest back'],
    why: /amount_released/,
    lie: () => ({ capture: (request, forward) => forward({ ...request, finalCapture: false }) }),
  },
  {
    name: 'a capability that is not there',
    checks: ['captures: one only, where the authorization says so'],
    why: /the capability several_captures/,
    lie: () => ({
      authorize: async (request, forward) =>
        withResult(
          await forward(request),
          ({ capabilities }) => capabilities && { capabilities: { ...capabilities, severalCaptures: true } },
        ),
    }),
  },
  {
    name: 'a void that gives back too much',
    checks: ['voids: what is left of a hold captured in part'],
    why: /amount_released/,
    lie: () => ({
      void: async (request, forward) => withResult(await forward(request), () => ({ amountReleased: 10_000n })),
    }),
  },
  {
    name: 'a refund of more than the capture accepted',
    checks: ['refunds: up to the capture, and not a unit more'],
    why: /a refund of more than was captured: was answered APPROVED/,
    lie: () => ({
      refund: async (request, forward) =>
        withResult(await forward(request), ({ errorCode }) => (errorCode === 'amount_exceeds_capture' ? approval : {})),
    }),
  },
  {
    name: 'a decline answered with an error',
    checks: ['authorization: declined'],
    why: /UNAVAILABLE/,
    lie: () => ({
      async authorize(request, forward) {
        const response = await forward(request);
        if (response.result?.answer !== Answer.DECLINED) return response;
        throw Object.assign(new Error('declined'), { code: status.UNAVAILABLE });
      },
    }),
  },
  {
    name: 'an answer that the contract does not allow',
    checks: ['authorization: approved'],
    why: /answered what the contract does not allow: .*reference/s,
    lie: () => ({
      authorize: async (request, forward) => withResult(await forward(request), () => ({ reference: 'r'.repeat(65) })),
    }),
  },
  {
    name: 'lets anybody in',
    checks: ['credential: authorization without it is refused'],
    why: /authorize without the credential\n.*\+ 'answered'/s,
    lie: () => ({ letsAnybodyIn: true }),
  },
  {
    name: 'an entry missing from the books',
    checks: ['void: approved', 'books: everything that was answered stands in them'],
    why: /is missing/,
    lie: () => ({
      async listEntries(request, forward) {
        const response = await forward(request);
        return { ...response, entries: response.entries.filter(({ kind }) => kind !== EntryKind.VOID) };
      },
    }),
  },
  {
    name: 'pages with a gap',
    checks: ['captures: several, up to the whole', 'books: pages without gap or repeat'],
    why: /small pages and large ones list the same/,
    lie: () => ({
      async listEntries(request, forward) {
        const response = await forward(request);
        return { ...response, entries: response.nextPageToken === '' ? response.entries : response.entries.slice(1) };
      },
    }),
  },
  {
    name: 'books that do not add up',
    checks: ['capture: approved', 'books: every authorization adds up'],
    why: /captured is what the captures of the authorization charged/,
    lie: () => ({
      async listEntries(request, forward) {
        const response = await forward(request);
        return { ...response, entries: response.entries.map((entry) => ({ ...entry, captured: 0n })) };
      },
    }),
  },
  {
    name: 'a reversal that is not in the books',
    checks: ['events: a reversal of the whole'],
    why: /the sums of the authorization in the books/,
    lie: () => ({
      async listEntries(request, forward) {
        const response = await forward(request);
        return { ...response, entries: response.entries.map((entry) => ({ ...entry, reversed: 0n })) };
      },
    }),
  },
  {
    name: 'events lost',
    checks: ['events: a reversal of the whole'],
    why: /no event captureReversed within/,
    eventWithinMs: 2_000,
    lie: () => ({ reportEvent: async () => ({}) }),
  },
  {
    name: 'an event identifier that changes when it is repeated',
    checks: ['events: captureReversed that was refused comes again'],
    why: /under another event_id/,
    lie: () => ({ reportEvent: (request, forward) => forward({ ...request, eventId: uuidv7() }) }),
  },
  {
    name: 'an event that says something else when it is repeated',
    checks: ['events: captureReversed that was refused comes again'],
    why: /a repeated event says the same/,
    lie: () => {
      let count = 0;
      return {
        reportEvent(request, forward) {
          const { event } = request;
          count += 1;
          if (event.case !== 'captureReversed') return forward(request);
          return forward({ ...request, event: { ...event, value: { ...event.value, reference: `${count}` } } });
        },
      };
    },
  },
  {
    name: 'an accepted operation that never ends',
    checks: ['capture: accepted, it ends in time and says how'],
    why: /it had not ended when expected_by was over/,
    lie: () => neverEnding(5_000),
  },
  {
    name: 'an accepted operation that ends too late for the kit',
    checks: ['capture: accepted, it ends in time and says how'],
    why: /it had not ended after 4000 ms; expected_by is later/,
    eventWithinMs: 4_000,
    lie: () => neverEnding(60 * 60 * 1000),
  },
];

function neverEnding(expectedAfterMs: number): Lie {
  const expectedBy = timestampFromMs(Date.now() + expectedAfterMs);
  return {
    capture: async (request, forward) => withResult(await forward(request), () => ({ expectedBy })),
    async inquire(request, forward) {
      const response = await forward(request);
      return {
        ...response,
        finding: Finding.AT_WORK,
        ...(response.result && { result: { ...response.result, answer: Answer.ACCEPTED, expectedBy } }),
      };
    },
  };
}
