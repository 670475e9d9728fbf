import { type Timestamp, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import { Answer, Finding, MerchantReason } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { approval, type Fault, later, listing, other, telling, withResult } from './fault.ts';

/** Results that say something wrong. */
export const RESULTS: readonly Fault[] = [
  {
    name: 'an inquiry that says APPROVED for what was declined',
    checks: ['authorization: declined'],
    why: /the result of an inquiry about a refusal/,
    lie: () => ({
      inquire: async (request, forward) =>
        withResult(await forward(request), ({ answer }) => (answer === Answer.DECLINED ? approval : {})),
    }),
  },
  {
    name: 'a refusal that is another when it is repeated',
    checks: ['capture: declined'],
    why: /the answer to a repeated request/,
    lie: () => {
      const seen = new Set<unknown>();
      return telling('capture', (_, { requestId }) => {
        if (seen.has(requestId)) return { errorMessage: 'Something else.' };
        seen.add(requestId);
        return {};
      });
    },
  },
  {
    name: 'NOT_PERFORMED for DECLINED',
    checks: ['capture: declined'],
    why: /\+ 'NOT_PERFORMED'/,
    lie: () => telling('capture', ({ answer }) => (answer === Answer.DECLINED ? { answer: Answer.NOT_PERFORMED } : {})),
  },
  {
    name: 'a refusal without a code',
    checks: ['capture: not performed'],
    why: /a refusal has an error code/,
    lie: () => telling('capture', () => ({ errorCode: '' })),
  },
  {
    name: 'an approval without a reference',
    checks: ['capture: approved'],
    why: /an approval has a reference/,
    lie: () => telling('capture', () => ({ reference: '' })),
  },
  {
    name: 'a hold of a customer who did not come, refused',
    checks: ['initiator: '],
    why: /authorize with the token of its profile/,
    lie: () =>
      telling('authorize', (_, { merchantReason }) =>
        merchantReason === MerchantReason.NO_SHOW ? { answer: Answer.NOT_PERFORMED, errorCode: 'unknown_reason' } : {},
      ),
  },
  {
    name: 'a guarantee that Describe promises and no authorization has',
    checks: ['authorization: approved'],
    why: /guaranteed_until is absent/,
    lie: () => telling('authorize', () => ({ guaranteedUntil: undefined })),
  },
  {
    name: 'a guarantee beyond the end',
    checks: ['authorization: approved'],
    why: /guaranteed_until is after expires_at/,
    lie: () => telling('authorize', ({ expiresAt }) => (expiresAt ? { guaranteedUntil: dayAfter(expiresAt) } : {})),
  },
  {
    name: 'a guarantee that is over when it is given',
    checks: ['authorization: approved'],
    why: /guaranteed_until is before acted_at/,
    lie: () => telling('authorize', () => ({ guaranteedUntil: timestampFromMs(946_684_800_000) })),
  },
  {
    name: 'an extension after which the card scheme guarantees less',
    checks: ['extensions: never'],
    why: /guaranteed_until/,
    lie: () =>
      telling('extendAuthorization', ({ guaranteedUntil }) =>
        guaranteedUntil ? { guaranteedUntil: timestampFromMs(timestampMs(guaranteedUntil) - 3_600_000) } : {},
      ),
  },
  {
    name: 'a declined capture that gives back a part',
    checks: ['capture: declined'],
    why: /the sums of the authorization after a refusal/,
    lie: () => {
      const declined = new Set<string>();
      const capture = telling('capture', ({ answer }, { authorizationRequestId }) => {
        if (answer === Answer.DECLINED) declined.add(String(authorizationRequestId));
        return {};
      });
      return {
        ...capture,
        ...listing((entry) => (declined.has(entry.requestId) ? { ...entry, voided: 1_000n } : entry)),
      };
    },
  },
  {
    name: 'a capture that is not final and gives back a part',
    checks: ['captures: several, up to the whole'],
    why: /a capture that is not final gives nothing back/,
    lie: () => telling('capture', () => ({ amountReleased: 1n })),
  },
  {
    name: 'a second void that gives back again',
    checks: ['voids: the whole; nothing can be captured afterwards'],
    why: /amount_released of a second void/,
    lie: () => telling('void', () => ({ amountReleased: 10_000n })),
  },
  {
    name: 'a void that finds nothing, in words of its own',
    checks: ['voids: the whole; nothing can be captured afterwards'],
    why: /a void that finds nothing left was answered nothing_there/,
    lie: () =>
      telling('void', ({ amountReleased }) =>
        amountReleased === 0n ? { answer: Answer.NOT_PERFORMED, errorCode: 'nothing_there' } : {},
      ),
  },
  {
    name: 'a void that forgets increments',
    checks: ['increments: what they added is voided, too'],
    why: /amount_released/,
    lie: () => telling('void', () => ({ amountReleased: 10_000n })),
  },
  {
    name: 'increments that cannot be captured',
    checks: ['increments: add to what can be captured'],
    why: /capture with the token of its profile/,
    lie: () =>
      telling('capture', (_, { amount }) =>
        Number(amount) > 10_000 ? { answer: Answer.NOT_PERFORMED, errorCode: 'amount_exceeds_authorization' } : {},
      ),
  },
  {
    name: 'a capability denied that is there',
    checks: ['authorization: approved'],
    why: /the capabilities of this authorization/,
    lie: () =>
      telling('authorize', ({ capabilities }) => capabilities && { capabilities: { ...capabilities, refunds: false } }),
  },
  {
    name: 'an end more than a year away',
    checks: ['authorization: approved'],
    why: /expires_at is more than 60 days away/,
    lie: () => telling('authorize', ({ expiresAt }) => ({ expiresAt: later(expiresAt, 366) })),
  },
  {
    name: 'an end that is over',
    checks: ['authorization: approved'],
    why: /expires_at is in the future/,
    lie: () => telling('authorize', ({ expiresAt }) => ({ expiresAt: later(expiresAt, -366) })),
  },
  {
    name: 'an extension that ends sooner',
    checks: ['extensions: never an earlier end'],
    why: /expires_at/,
    lie: () => telling('extendAuthorization', ({ expiresAt }) => ({ expiresAt: later(expiresAt, -10) })),
  },
  {
    name: 'acted two days ago',
    checks: ['capture: approved'],
    why: /acted_at is .*, not a time of this run/,
    lie: () => telling('capture', () => ({ actedAt: timestampFromMs(Date.now() - 2 * 86_400_000) })),
  },
  {
    name: 'expected in the past',
    checks: ['capture: accepted, it ends in time'],
    why: /expected_by is in the future/,
    lie: () => telling('capture', ({ expectedBy }) => expectedBy && { expectedBy: later(expectedBy, -1) }),
  },
  {
    name: 'expected after the longest time of Describe',
    checks: ['capture: accepted, it ends in time'],
    why: /expected_by is later than accepted_longest of Describe allows/,
    lie: () => telling('capture', ({ expectedBy }) => expectedBy && { expectedBy: later(expectedBy, 8) }),
  },
  {
    name: 'a page of its own for each call',
    checks: ['checkouts: opened once, at work until closed by a void'],
    why: /the same page for a repeated request/,
    lie: () => ({
      async createCheckout(request, forward) {
        const page = await forward(request);
        return { ...page, checkoutUrl: `${page.checkoutUrl}#${uuidv7()}` };
      },
    }),
  },
  {
    name: 'a page that stays open after its void',
    checks: ['checkouts: opened once, at work until closed by a void'],
    why: /a closed checkout has ended/,
    lie: () => ({
      async inquire(request, forward) {
        const { result: _, ...response } = await forward(request);
        return { ...response, finding: Finding.AT_WORK };
      },
    }),
  },
  {
    name: 'a page for a fenced identifier',
    checks: ['checkouts: another request under its identifier, or a fenced one'],
    why: /the page was opened/,
    lie: () => ({
      createCheckout: (request, forward) => forward(request).catch(() => forward(other(request))),
    }),
  },
  {
    name: 'an inquiry that fences unasked',
    checks: ['capture: fenced, it never acts'],
    why: /an inquiry that does not fence/,
    lie: () => ({ inquire: (request, forward) => forward({ ...request, fence: true }) }),
  },
  {
    name: 'bad input taken',
    checks: ['bad input: refused'],
    why: /a request that the contract does not allow: was answered APPROVED/,
    lie: () => ({
      capture: (request, forward) => forward(request).catch(() => ({ result: { ...approval } }) as never),
    }),
  },
  {
    name: 'calls together that get the answers of each other',
    checks: ['calls together: each is answered'],
    why: /a request that the contract does not allow|has no result/,
    lie: () => ({ mixesCalls: true }),
  },
  {
    name: 'inquiries together that get the findings of each other',
    checks: ['calls together: inquiries'],
    why: /the finding at place \d/,
    lie: () => ({
      mixesCalls: (calls) => (calls.every(({ method }) => method === 'inquire') ? calls.toReversed() : calls),
    }),
  },
  {
    name: 'inquiries together that are all told that they were never seen',
    checks: ['calls together: inquiries'],
    why: /the finding at place \d/,
    lie: () => ({
      inquire: async (request, forward) => {
        const response = await forward(request);
        return request.fence
          ? response
          : { ...response, finding: Finding.NEVER_SEEN, requestId: '', result: undefined };
      },
    }),
  },
  {
    name: 'a description that changes',
    checks: ['describe: says what the profile says'],
    why: /a second Describe/,
    lie: () => {
      let calls = 0;
      return {
        async describe(request, forward) {
          calls += 1;
          return { ...(await forward(request)), name: `sandbox-${calls}` };
        },
      };
    },
  },
];

function dayAfter(time: Timestamp): Timestamp {
  return timestampFromMs(timestampMs(time) + 86_400_000);
}
