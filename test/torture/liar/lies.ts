/** Each way in which a processor breaks its contract: one row a rule. */
import { create } from '@bufbuild/protobuf';
import { TimestampSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { v7 as uuidv7 } from 'uuid';
import type { ReportEventRequest } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import {
  AcceptedLongestSchema,
  Answer,
  CardSchema,
  CurrencyBoundsSchema,
  type DescribeResponse,
  type Entry,
  Finding,
  type Result,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Lie } from '../../services/conformance/liar.ts';
import { CORRECTIONS } from './corrections.ts';
import { MIXED_UP } from './mixed-up.ts';
import { UNASKED } from './unasked.ts';

export interface Row {
  readonly name: string;
  readonly lie: Lie;
  /** Alone, it leaves operations that an operator has to correct. */
  readonly isCorrected?: boolean;
  /** Alone, it exchanges answers of calls that were sent in one message. */
  readonly mixesCallMany?: boolean;
}

type Change = (result: Result) => Partial<Result>;

/** Changes each result, whether it is an answer, found by an inquiry or reported. */
function results(name: string, change: Change): Row {
  const changed = <T extends { result?: Result | undefined }>(answer: T): T =>
    answer.result ? { ...answer, result: { ...answer.result, ...change(answer.result) } } : answer;
  return {
    name,
    lie: {
      ...toAllSent(async (request, forward) => changed(await forward(request))),
      inquire: async (request, forward) => changed(await forward(request)),
      reportEvent(request, forward) {
        const { event } = request;
        if (event.case !== 'operationSettled' && event.case !== 'checkoutCompleted') return forward(request);
        return forward({ ...request, event: { ...event, value: changed(event.value) } as typeof event });
      },
    },
  };
}

/** One lie to everything that is sent, whatever its kind. */
function toAllSent(tell: NonNullable<Lie['capture']>): Lie {
  const methods = [
    'authorize',
    'capture',
    'void',
    'credit',
    'incrementAuthorization',
    'decreaseAuthorization',
    'extendAuthorization',
    'refund',
  ];
  return Object.fromEntries(methods.map((method) => [method, tell]));
}

function inquiries(name: string, answer: NonNullable<Lie['inquire']>): Row {
  return { name, lie: { inquire: answer } };
}

function events(name: string, change: (value: object) => object, more: Partial<ReportEventRequest> = {}): Row {
  const lied = ({ event, ...request }: ReportEventRequest): ReportEventRequest =>
    ({ ...request, event: { ...event, value: change(event.value ?? {}) }, ...more }) as ReportEventRequest;
  return { name, lie: { reportEvent: (request, forward) => forward(lied(request)) } };
}

function entries(name: string, change: Partial<Entry>): Row {
  return {
    name,
    lie: {
      async listEntries(request, forward) {
        const page = await forward(request);
        return { ...page, entries: page.entries.map((entry) => ({ ...entry, ...change })) };
      },
    },
  };
}

function descriptions(name: string, change: Partial<DescribeResponse>): Row {
  return { name, lie: { describe: async (request, forward) => ({ ...(await forward(request)), ...change }) } };
}

function pages(name: string, change: Partial<{ checkoutUrl: string; expiresAt: ReturnType<typeof at> }>): Row {
  return {
    name,
    lie: { createCheckout: async (request, forward) => ({ ...(await forward(request)), ...change }) },
  };
}

const at = (year: number) => timestampFromMs(Date.UTC(year, 0));
const never = create(TimestampSchema, { seconds: 10n ** 16n });
const beforeYear1 = create(TimestampSchema, { seconds: -(10n ** 15n) });
const card = (fields: object): Change => {
  return () => ({
    card: create(CardSchema, { brand: 'visa', last4: '4242', expiryMonth: 1, expiryYear: 2030, ...fields }),
  });
};
const failure = (code: status) => Object.assign(new Error('made up'), { code });
const fails = (code: status) => async () => {
  throw failure(code);
};

export const LIES: readonly Row[] = [
  ...CORRECTIONS,
  ...UNASKED,
  ...MIXED_UP,
  results('an answer that does not exist', () => ({ answer: 9 as Answer })),
  results('an answer that says nothing', () => ({ answer: Answer.UNSPECIFIED })),
  results('NUL in the reference', () => ({ reference: 'a\0b' })),
  results('a reference of 1.5 MB', () => ({ reference: 'r'.repeat(1_500_000) })),
  results("a line break in the bank's reference", () => ({ bankReference: 'a\nb' })),
  results('a decline with NUL in its code', () => ({ answer: Answer.DECLINED, errorCode: '\0' })),
  results('a decline with an endless message', () => ({ answer: Answer.DECLINED, errorMessage: 'm'.repeat(100_000) })),
  results('NUL in the token', () => ({ generatedTokenId: 't\0' })),
  results('NUL in the brand', card({ brand: '\0' })),
  results('letters in the card number', card({ last4: 'abcd' })),
  results('a thirteenth month', card({ expiryMonth: 13 })),
  results('a funding that does not exist', card({ funding: 'borrowed' })),
  results('a 3-D Secure outcome that does not exist', card({ threeDSecure: '\0' })),
  results('an endless decline code', card({ declineCode: '5'.repeat(100_000) })),
  results('an authorization without end', () => ({ expiresAt: at(9_999) })),
  results('an end before the year 1', () => ({ expiresAt: beforeYear1 })),
  results('an authorization that has ended already', () => ({ expiresAt: at(2001) })),
  results('acted at no time', () => ({ actedAt: never })),
  results('a negative amount given back', () => ({ amountReleased: -1n })),
  results('more given back than exists', () => ({ amountReleased: 10n ** 15n })),
  results('more given back than there was', () => ({ amountReleased: 999_999n })),
  results('nothing given back', () => ({ amountReleased: 0n })),
  results('another amount done', () => ({ amount: 1n })),
  results('nothing done', () => ({ amount: 0n })),
  results('a negative amount done', () => ({ amount: -1n })),
  results('the results of other operations', () => ({ requestId: uuidv7() })),
  results('accepted for ever, without a time', () => ({ answer: Answer.ACCEPTED })),
  results('accepted for ever, until a time that is over', () => ({ answer: Answer.ACCEPTED, expectedBy: at(2001) })),
  results('accepted for ever, until far off', () => ({ answer: Answer.ACCEPTED, expectedBy: at(2199) })),
  results('accepted until no time', () => ({ answer: Answer.ACCEPTED, expectedBy: never })),
  results('everything declined that was done', () => ({ answer: Answer.DECLINED, errorCode: 'no' })),
  results('everything approved', () => ({ answer: Answer.APPROVED, reference: 'made-up' })),
  results('nothing left of what there is', () => ({
    answer: Answer.NOT_PERFORMED,
    errorCode: 'authorization_not_found',
  })),
  { name: 'no result in any answer', lie: toAllSent(async () => ({}) as never) },
  {
    name: 'a status instead of each answer',
    lie: {
      authorize: fails(status.INTERNAL),
      capture: fails(status.UNKNOWN),
      void: fails(status.PERMISSION_DENIED),
      credit: fails(status.DATA_LOSS),
      incrementAuthorization: fails(status.INVALID_ARGUMENT),
      decreaseAuthorization: fails(status.RESOURCE_EXHAUSTED),
      extendAuthorization: fails(status.ABORTED),
      refund: fails(status.INTERNAL),
      createCheckout: fails(status.UNIMPLEMENTED),
    },
  },
  inquiries('a finding that does not exist', async (request, forward) => ({
    ...(await forward(request)),
    finding: 7 as Finding,
  })),
  inquiries('done, and not how', async (request, forward) => {
    const { result: _, ...answer } = await forward(request);
    return { ...answer, finding: Finding.DONE };
  }),
  inquiries('at work for ever', async (request, forward) => {
    const { result: _, ...answer } = await forward(request);
    return { ...answer, finding: Finding.AT_WORK };
  }),
  inquiries('never seen, and not fenced', async (request, forward) => {
    const { result: _, ...answer } = await forward({ ...request, fence: false });
    return { ...answer, finding: Finding.NEVER_SEEN, fenced: false };
  }),
  inquiries('never seen what was done', async (request, forward) => {
    const { result: _, ...answer } = await forward(request);
    return { ...answer, finding: Finding.NEVER_SEEN, fenced: true };
  }),
  inquiries('no answer to inquiries', fails(status.UNAVAILABLE)),
  pages('a page that is a script', { checkoutUrl: 'javascript:alert(1)' }),
  pages('NUL in the address of a page', { checkoutUrl: 'https://pay.example/\0' }),
  pages('a page that stays open for ever', { expiresAt: at(2199) }),
  pages('a page that closes at no time', { expiresAt: never }),
  events('events about what was never asked', (value) => ({
    ...value,
    ...('requestId' in value && { requestId: uuidv7() }),
    ...('captureRequestId' in value && { captureRequestId: uuidv7() }),
  })),
  events('events without a subject', () => ({})),
  events('NUL in the reference of events', (value) => ({ ...value, reference: '\0' })),
  events('a negative amount in events', (value) => ({ ...value, ...('amount' in value && { amount: -1n }) })),
  events('too much taken back', (value) => ({ ...value, ...('amount' in value && { amount: 999_999n }) })),
  events('events from before the year 1', (value) => value, { occurredAt: beforeYear1 }),
  events('one identifier for all events', (value) => value, { eventId: 'the-event' }),
  { name: 'events lost', lie: { reportEvent: async () => ({}) } },
  {
    name: 'every event contradicted by a second one',
    lie: {
      async reportEvent(request, forward) {
        const answer = await forward(request);
        const { event } = request;
        if (event.case !== 'operationSettled' || !event.value.result) return answer;
        const result = { ...event.value.result, answer: Answer.NOT_PERFORMED, errorCode: 'changed_its_mind' };
        await forward({ ...request, eventId: uuidv7(), event: { ...event, value: { ...event.value, result } } });
        return answer;
      },
    },
  },
  entries('NUL in an entry', { reference: '\0' }),
  entries('a negative entry', { amount: -1n }),
  entries('entries in another currency', { currency: 'JPY' }),
  entries('entries under no identifier', { requestId: 'none' }),
  entries('entries that add up to nothing', { captured: 0n, voided: 0n }),
  {
    name: 'pages of entries that come again',
    lie: {
      async listEntries(request, forward) {
        return { ...(await forward({ ...request, pageToken: '' })), nextPageToken: uuidv7() };
      },
    },
  },
  {
    name: 'fresh entries without end',
    lie: {
      async listEntries(request, forward) {
        const page = await forward({ ...request, pageToken: '' });
        const entries = page.entries.map((entry) => ({ ...entry, requestId: uuidv7() }));
        return { ...page, entries, nextPageToken: uuidv7() };
      },
    },
  },
  descriptions('NUL in the name of the processor', { name: '\0' }),
  descriptions('bounds of no currency', {
    currencies: [create(CurrencyBoundsSchema, { currency: '???', smallestAmount: -1n, largestAmount: 10n ** 15n })],
  }),
  descriptions('accepted for a thousand years', {
    acceptedLongest: create(AcceptedLongestSchema, { capture: { seconds: 10n ** 11n } }),
  }),
  {
    name: 'empty pages of entries without end',
    lie: {
      async listEntries(request, forward) {
        return { ...(await forward({ ...request, pageToken: '' })), entries: [], nextPageToken: uuidv7() };
      },
    },
  },
];
