import { status } from '@grpc/grpc-js';
import { Answer, type Result } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { again, approval, type Fault, listing, other, telling, withResult } from './fault.ts';

const AGAIN = 'again: all that was asked gets its answer of then';

/** What is asked once more, long after it was answered. The kit repeats after 3 s here. */
export const LATER: readonly Fault[] = [
  {
    name: 'a capture that is UNAVAILABLE after it has charged, and charges again when it is repeated',
    checks: ['capture: repeated, the same answer'],
    why: /what nobody asked for/,
    lie: () => {
      const seen = new Set<unknown>();
      return {
        async capture(request, forward) {
          if (seen.has(request.requestId)) return forward(request);
          seen.add(request.requestId);
          await again(request, forward);
          throw Object.assign(new Error('the processor is slow'), { code: status.UNAVAILABLE });
        },
      };
    },
  },
  {
    name: 'a capture repeated after 2 s charges again',
    checks: ['capture: approved', AGAIN],
    why: /capture .*: the answer to a repeated request/,
    repeatAfterMs: 3_000,
    lie: () => {
      const times = new Map<unknown, number>();
      return {
        async capture(request, forward) {
          const { requestId } = request;
          const firstMs = times.get(requestId) ?? performance.now();
          times.set(requestId, firstMs);
          return performance.now() - firstMs > 2_000 ? again(request, forward) : forward(request);
        },
      };
    },
  },
  {
    name: 'a capture repeated after 2 s charges again, and says what it said before',
    checks: ['capture: approved', AGAIN],
    why: /the books of .* were .*captured 1000, .* and are .*captured 2000/,
    repeatAfterMs: 3_000,
    lie: () => {
      const times = new Map<unknown, number>();
      return {
        async capture(request, forward) {
          const { requestId } = request;
          const response = await forward(request);
          const firstMs = times.get(requestId) ?? performance.now();
          times.set(requestId, firstMs);
          if (performance.now() - firstMs > 2_000) await forward(other(request));
          return response;
        },
      };
    },
  },
  {
    name: 'a refusal that is forgotten',
    checks: ['captures: the whole, and not a unit more', AGAIN],
    why: /is APPROVED after NOT_PERFORMED amount_exceeds_authorization/,
    repeatAfterMs: 1,
    lie: () => {
      const seen = new Set<unknown>();
      return telling('capture', ({ errorCode }, { requestId }) => {
        if (errorCode !== 'amount_exceeds_authorization') return {};
        const isKnown = seen.has(requestId);
        seen.add(requestId);
        return isKnown ? approval : {};
      });
    },
  },
  {
    name: 'fences that end after 2 s',
    checks: ['capture: fenced, it never acts', AGAIN],
    why: /an identifier that was fenced: was answered APPROVED/,
    repeatAfterMs: 3_000,
    lie: () => {
      const startedMs = performance.now();
      return {
        async capture(request, forward) {
          const response = await forward(request);
          const isOver = response.result?.errorCode === 'fenced' && performance.now() - startedMs > 2_500;
          return isOver ? again(request, forward) : response;
        },
      };
    },
  },
  {
    name: 'an inquiry that answers something else later',
    checks: ['void: approved', AGAIN],
    why: /void .*: an inquiry says something else/,
    repeatAfterMs: 1,
    lie: () => {
      const seen = new Map<unknown, number>();
      return {
        async inquire(request, forward) {
          seen.set(request.requestId, (seen.get(request.requestId) ?? 0) + 1);
          const response = await forward(request);
          return withResult(response, () => ({ reference: 'another' }));
        },
      };
    },
  },
  {
    name: 'a charge that nobody asked for',
    checks: ['capture: approved', 'books: nothing that nobody asked for'],
    why: /\+ {3}'[0-9a-f-]{36}'/,
    lie: () => ({
      async authorize(request, forward) {
        const response = await forward(request);
        if (response.result?.answer === Answer.APPROVED) await forward(other(request));
        return response;
      },
    }),
  },
  {
    name: 'a result of another identifier',
    checks: ['capture: approved'],
    why: /the result names .*, and .* was asked/,
    lie: () => telling('capture', () => ({ requestId: '01890000-0000-7000-8000-000000000000' })),
  },
  {
    name: 'a capture of another amount than was asked for',
    checks: ['capture: approved'],
    why: /amount is what was done, and another was asked for/,
    lie: () =>
      telling('capture', ({ answer }): Partial<Result> => (answer === Answer.APPROVED ? { amount: 600n } : {})),
  },
];

/** Amounts and names that are cut. */
export const CUT: readonly Fault[] = [
  {
    name: 'amounts of 32 bits',
    checks: ['large: the largest amount is held'],
    why: /the sums of the authorization in the books|captured is what|a capture of more/,
    lie: () => listing((entry) => ({ ...entry, captured: entry.captured % 4_294_967_296n })),
  },
  {
    name: 'amounts of 32 bits, refused',
    checks: ['large: the largest amount is held'],
    why: /NOT_PERFORMED amount_too_large/,
    lie: () =>
      telling('authorize', (_, { amount }) =>
        (amount as bigint) > 2_147_483_647n ? { answer: Answer.NOT_PERFORMED, errorCode: 'amount_too_large' } : {},
      ),
  },
  {
    name: 'references cut to 64 bytes',
    checks: ['large: long names in any script'],
    why: /merchant_reference is /,
    lie: () =>
      listing((entry) => ({
        ...entry,
        merchantReference: Buffer.from(entry.merchantReference).subarray(0, 64).toString(),
      })),
  },
  {
    name: 'references without what is not Latin',
    checks: ['large: long names in any script'],
    why: /merchant_reference is /,
    lie: () =>
      listing((entry) => ({ ...entry, merchantReference: entry.merchantReference.replace(/[^ -\u00ff]/gu, '?') })),
  },
  {
    name: 'yen in hundredths',
    checks: ['large: currencies that count otherwise'],
    why: /the sums of the authorization in the books|captured is what/,
    lie: () => listing((entry) => (entry.currency === 'JPY' ? { ...entry, captured: entry.captured * 100n } : entry)),
  },
];
