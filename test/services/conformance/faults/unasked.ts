import { create } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { v7 as uuidv7 } from 'uuid';
import {
  AuthorizationEnd,
  type ReportEventRequest,
  ReportEventRequestSchema,
} from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Lie } from '../liar.ts';
import { approval, type Fault } from './fault.ts';

const JUDGE = 'events: each that came was asked for';
const REVERSAL = 'events: a reversal of the whole';

/** What the lie has seen: a capture that was approved, and its authorization. */
interface Seen {
  readonly capture: string;
  readonly hold: string;
}

/**
 * Before each event of the sandbox, reports another one, once, about what was captured first. An event may come before
 * the answer to the capture, for which it waits.
 */
function reportingToo(say: (seen: Seen, truth: ReportEventRequest) => object | undefined): Lie {
  const seen = Promise.withResolvers<Seen>();
  let isSaid = false;
  return {
    async capture(request, forward) {
      const response = await forward(request);
      const { requestId, authorizationRequestId } = request;
      if (response.result?.answer === Answer.APPROVED) {
        seen.resolve({ capture: String(requestId), hold: String(authorizationRequestId) });
      }
      return response;
    },
    async reportEvent(request, forward) {
      const told = await seen.promise;
      const event = isSaid ? undefined : (say(told, request) as ReportEventRequest['event'] | undefined);
      if (event) {
        const { occurredAt } = request;
        const made = { eventId: uuidv7(), event, ...(occurredAt && { occurredAt }) };
        await forward(create(ReportEventRequestSchema, made));
        isSaid = true;
      }
      return forward(request);
    },
  };
}

const RESULT = { ...approval, bankReference: '', generatedTokenId: '', requestId: '' };

/** Events that nobody asked for. */
export const UNASKED: readonly Fault[] = (
  [
    [
      'one dispute under two ids',
      [REVERSAL],
      /it is the 2. of 1 captures/,
      // Another one may be left from a run before, whose events nobody judges.
      ({ capture }, { event }) =>
        event.case === 'captureReversed' && event.value.captureRequestId === capture ? event : undefined,
    ],
    [
      'a reversal that nobody asked for',
      ['capture: approved', REVERSAL],
      /captureReversed of .*: nobody has asked for it by a token/,
      ({ capture }) => ({ case: 'captureReversed', value: { captureRequestId: capture, amount: 1n, reference: 'r' } }),
    ],
    [
      'an end that nobody asked for',
      ['capture: approved', REVERSAL],
      /authorizationEnded of .*: nobody has asked for it/,
      ({ hold }) => ({
        case: 'authorizationEnded',
        value: { requestId: hold, end: AuthorizationEnd.EXPIRED, amount: 1n, reference: '' },
      }),
    ],
    [
      'a charge by somebody else that there was not',
      ['capture: approved', REVERSAL],
      /foreignCapture of .*: nobody else has charged it/,
      ({ hold }) => ({
        case: 'foreignCapture',
        value: { authorizationRequestId: hold, captureRequestId: uuidv7(), amount: 1n, reference: '' },
      }),
    ],
    [
      'a card that nobody entered',
      ['capture: approved', REVERSAL],
      /checkoutCompleted of .*: no page was opened/,
      ({ hold }) => ({ case: 'checkoutCompleted', value: { requestId: hold, result: RESULT } }),
    ],
    [
      'a return of a refund that did not come back',
      ['capture: approved', REVERSAL],
      /refundReturned of .*: nobody has asked for it/,
      ({ capture }) => ({
        case: 'refundReturned',
        value: { refundRequestId: capture, amount: 1n, reference: '' },
      }),
    ],
    [
      'an event about nothing that was ever asked',
      ['capture: approved', REVERSAL],
      /captureReversed of .*: nothing was sent under this identifier/,
      () => ({ case: 'captureReversed', value: { captureRequestId: uuidv7(), amount: 1n, reference: '' } }),
    ],
  ] as const satisfies readonly (readonly [string, readonly string[], RegExp, Parameters<typeof reportingToo>[0]])[]
).map(([name, checks, why, say]) => ({
  name,
  checks: [...checks, JUDGE],
  why,
  lie: () => reportingToo(say as Parameters<typeof reportingToo>[0]),
}));

/** Events that are given up. */
export const GIVEN_UP: readonly Fault[] = [
  ...(['captureReversed', 'authorizationEnded', 'operationSettled', 'refundReturned'] as const).map((kind) => ({
    name: `${kind} given up after three refusals`,
    checks: [`events: ${kind} that was refused comes again and again`] as const,
    why: new RegExp(`no event ${kind} for the 4. time`),
    eventWithinMs: 8_000,
    lie: () => givingUp(3),
  })),
  {
    name: 'an event that is invalid given up',
    checks: ['events: captureReversed that was refused comes again and again'],
    why: /no event captureReversed for the 2. time/,
    eventWithinMs: 8_000,
    lie: () => givingUp(1, status.INVALID_ARGUMENT),
  },
  {
    name: 'a result that came later is not reported',
    checks: ['accepted void: crossed', 'events: each result that came later'],
    why: /the result of .*, which was ACCEPTED/,
    eventWithinMs: 8_000,
    lie: () => ({ reportEvent: async () => ({}) }),
  },
  {
    name: 'a reversal in the books that is not reported',
    checks: ['capture: approved', 'events: each result that came later'],
    why: /7 was taken or came back, and 0 was reported/,
    eventWithinMs: 1_000,
    lie: () => ({
      async listEntries(request, forward) {
        const response = await forward(request);
        const entries = response.entries.map((one) => (one.captured > 0n ? { ...one, reversed: 7n } : one));
        return { ...response, entries };
      },
    }),
  },
];

/** Takes an event for reported after so many refusals, or after one with a status. */
function givingUp(times: number, code?: status): Lie {
  const refused = new Map<string, number>();
  return {
    async reportEvent(request, forward) {
      const count = refused.get(request.eventId) ?? 0;
      if (count >= times) return {};
      return forward(request).catch((error: { code: status }) => {
        const isCounted = code === undefined || error.code === code;
        refused.set(request.eventId, count + (isCounted ? 1 : 0));
        throw error;
      });
    },
  };
}
