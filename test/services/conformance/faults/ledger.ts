import { Answer, type Entry, EntryKind } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Fault, later, listing } from './fault.ts';

const CLOSING_CHECK = 'books: everything that was answered stands in them';

/** A ledger that says something wrong. */
export const LEDGER: readonly Fault[] = [
  {
    name: 'the ledger newest first',
    checks: ['books: in the order in which'],
    why: /the order of two holds/,
    lie: () => ({
      async listEntries(request, forward) {
        const response = await forward(request);
        return { ...response, entries: [...response.entries].reverse() };
      },
    }),
  },
  {
    name: 'fences that are not listed',
    checks: ['books: in the order in which'],
    why: /an identifier that was fenced between them/,
    lie: () => listing((entry) => (entry.kind === EntryKind.FENCE ? undefined : entry)),
  },
  {
    name: 'the merchant of a list ignored',
    checks: ['books: of one merchant'],
    why: /entries of another merchant/,
    lie: () => ({ listEntries: (request, forward) => forward({ ...request, merchantId: '' }) }),
  },
  {
    name: 'the account of a list ignored',
    checks: ['books: of one merchant'],
    why: /entries of another account/,
    lie: () => ({
      async listEntries(request, forward) {
        const { entries, ...response } = await forward({ ...request, account: '' });
        return {
          ...response,
          entries: entries.map((entry, index) => ({ ...entry, account: index % 2 ? 'account-12' : entry.account })),
        };
      },
    }),
  },
  {
    name: 'the time of a list ignored',
    checks: ['books: what changed since'],
    why: /what did not change since a time/,
    lie: () => ({
      async listEntries(request, forward) {
        const { changedFrom: _, ...asked } = request;
        return forward(asked as typeof request);
      },
    }),
  },
  {
    name: 'an authorization that a capture does not change',
    checks: ['books: what changed since'],
    why: /a capture and its authorization/,
    lie: () => ({
      async listEntries(request, forward) {
        const { entries, ...response } = await forward({ ...request, pageSize: 0 });
        const isListed = ({ kind }: Entry) => !request.changedFrom || kind !== EntryKind.AUTHORIZATION;
        return { ...response, entries: entries.filter(isListed).slice(0, request.pageSize) };
      },
    }),
  },
  {
    name: 'entries that do not say when they changed',
    checks: ['books: what changed since'],
    why: /does not say when it changed/,
    lie: () => listing(({ changedAt: _, ...entry }) => entry as Entry),
  },
  ...(
    [
      ['another amount', /amount is 7/, (entry) => ({ ...entry, amount: 7n })],
      ['another merchant', /merchant is nobody/, (entry) => ({ ...entry, merchantId: 'nobody' })],
      ['another currency', /currency is CHF/, (entry) => ({ ...entry, currency: 'CHF' })],
      ['another reference', /reference is r/, (entry) => ({ ...entry, reference: 'r' })],
      ['another time', /acted_at is/, (entry) => ({ ...entry, actedAt: later(entry.actedAt, -1) })],
      ['another answer', /answer is DECLINED/, (entry) => ({ ...entry, answer: Answer.DECLINED })],
      ['another account', /account is account-12/, (entry) => ({ ...entry, account: 'account-12' })],
      ['another user', /user_id is somebody/, (entry) => ({ ...entry, userId: 'somebody' })],
      ["none of core's names", /operation_request_id is /, (entry) => ({ ...entry, operationRequestId: '' })],
      ["none of the merchant's references", /merchant_reference is /, (entry) => ({ ...entry, merchantReference: '' })],
    ] as const satisfies readonly (readonly [string, RegExp, (entry: Entry) => Entry])[]
  ).map(([what, why, change]) => ({
    name: `${what} in the books`,
    checks: ['credit: approved', CLOSING_CHECK] as const,
    why,
    lie: () =>
      listing((entry) => (entry.kind === EntryKind.CREDIT ? (change as (entry: Entry) => Entry)(entry) : entry)),
  })),
];

/** What core must find again after a restore. */
export const NAMES: readonly Fault[] = [
  {
    name: 'no memo in the books',
    checks: ['authorization: approved', CLOSING_CHECK],
    why: /authorize .*: memo is , not a memo/,
    lie: () => listing((entry) => ({ ...entry, memo: '' })),
  },
  {
    name: 'a refusal in the books with another code',
    checks: ['authorization: declined', CLOSING_CHECK],
    why: /authorize .*: error_code is refused/,
    lie: () => listing((entry) => (entry.answer === Answer.DECLINED ? { ...entry, errorCode: 'refused' } : entry)),
  },
  {
    name: "the name of a repetition instead of the first request's",
    checks: ['capture: repeated, the same answer', CLOSING_CHECK],
    why: /capture .*: operation_request_id is /,
    lie: () => {
      const names = new Map<string, string>();
      return {
        capture(request, forward) {
          names.set(String(request.requestId), String(request.operationRequestId));
          return forward(request);
        },
        ...listing((entry) => ({
          ...entry,
          operationRequestId: names.get(entry.requestId) ?? entry.operationRequestId,
        })),
      };
    },
  },
];

/** Pages that lead nowhere. */
export const PAGES: readonly Fault[] = [
  {
    name: 'a next page that is the first',
    checks: ['captures: a final one gives the rest back'],
    why: /a page names a next page that was read before/,
    lie: () => ({
      listEntries: async (request, forward) => ({
        ...(await forward({ ...request, pageToken: '' })),
        nextPageToken: '1',
      }),
    }),
  },
  {
    name: 'pages without an end',
    checks: ['captures: a final one gives the rest back'],
    why: /a page without entries names a next page/,
    lie: () => {
      let token = 0;
      return {
        async listEntries(request, forward) {
          token += 1;
          const { entries } = await forward({ ...request, pageToken: '' });
          return { entries: request.pageToken === '' ? entries : [], nextPageToken: String(token) } as never;
        },
      };
    },
  },
  {
    name: 'pages larger than asked for',
    checks: ['captures: several, up to the whole', 'books: pages without gap'],
    why: /entries, and \d+ were asked for/,
    lie: () => ({ listEntries: (request, forward) => forward({ ...request, pageSize: 0 }) }),
  },
];
