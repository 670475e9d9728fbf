import { status } from '@grpc/grpc-js';
import { Answer, type Result } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { approval, type Fault, listing, telling, withResult } from './fault.ts';

const NOT_ENDED = 'authorization_not_ended';

/** Results of operations that come while another one is accepted. */
export const CROSSED: readonly Fault[] = [
  {
    name: 'a void that gives back what an accepted capture holds',
    checks: ['accepted capture: crossed'],
    why: /a void: the books say otherwise than the answers/,
    lie: () => telling('void', ({ amountReleased }) => (amountReleased === 9_000n ? { amountReleased: 10_000n } : {})),
  },
  {
    name: 'a void that fails an accepted capture',
    checks: ['accepted capture: crossed'],
    why: /a void: (how the accepted one ends|.*says otherwise)/,
    lie: () => {
      const voided = new Set<unknown>();
      const refused: Partial<Result> = {
        answer: Answer.NOT_PERFORMED,
        errorCode: 'authorization_closed',
        reference: '',
      };
      return {
        async void(request, forward) {
          voided.add(request.authorizationRequestId);
          return forward(request);
        },
        ...telling('capture', ({ answer }, { authorizationRequestId }) =>
          answer === Answer.APPROVED && voided.has(authorizationRequestId) ? refused : {},
        ),
      };
    },
  },
  {
    name: 'a void that says that nothing is left while the hold is accepted',
    checks: ['accepted authorization: crossed'],
    why: /a void: was answered authorization_not_found, and 10000 is left/,
    lie: () => ({
      ...telling('void', ({ errorCode }) => (errorCode === NOT_ENDED ? { errorCode: 'authorization_not_found' } : {})),
      ...listing((entry) =>
        entry.errorCode === NOT_ENDED ? { ...entry, errorCode: 'authorization_not_found' } : entry,
      ),
    }),
  },
  {
    name: 'a capture of a hold that has no result yet',
    checks: ['accepted authorization: crossed'],
    why: /a capture: was answered APPROVED meanwhile/,
    lie: () => telling('capture', ({ errorCode }) => (errorCode === 'authorization_not_found' ? { ...approval } : {})),
  },
  {
    name: 'a refund of a capture that has no result yet',
    checks: ['accepted capture: crossed'],
    why: /a refund of it: was answered APPROVED meanwhile/,
    lie: () => telling('refund', ({ errorCode }) => (errorCode === 'capture_not_found' ? { ...approval } : {})),
  },
  {
    name: 'a capture beside an accepted final one',
    checks: ['accepted final capture: crossed'],
    why: /a capture of a unit: was answered APPROVED meanwhile/,
    lie: () =>
      telling('capture', ({ errorCode }) => (errorCode === 'amount_exceeds_authorization' ? { ...approval } : {})),
  },
  {
    name: 'a second void beside an accepted one that gives back again',
    checks: ['accepted void: crossed'],
    why: /a void: the books say otherwise than the answers/,
    lie: () => telling('void', ({ amountReleased }) => (amountReleased === 0n ? { amountReleased: 10_000n } : {})),
  },
  {
    name: 'a refund of a capture that was taken back, paid from the other',
    checks: ['two captures: no refund of the one'],
    why: /a refund of a capture that was taken back: was answered APPROVED/,
    lie: () => telling('refund', ({ errorCode }) => (errorCode === 'amount_exceeds_capture' ? { ...approval } : {})),
  },
  {
    name: 'reversals of one capture shown of none',
    checks: ['two captures: no refund of the one'],
    why: /reversed of the capture in the books/,
    lie: () => listing((entry) => (entry.authorizationRequestId ? { ...entry, reversed: 0n } : entry)),
  },
  {
    name: 'reversals that name the other capture',
    checks: ['two captures: what is taken back'],
    why: /what was taken back of one of two captures/,
    lie: () => {
      const captures: string[] = [];
      return {
        capture(request, forward) {
          captures.push(String(request.requestId));
          return forward(request);
        },
        reportEvent(request, forward) {
          const { event } = request;
          if (event.case !== 'captureReversed') return forward(request);
          const captureRequestId = captures.find((id) => id !== event.value.captureRequestId) ?? '';
          return forward({ ...request, event: { ...event, value: { ...event.value, captureRequestId } } });
        },
      };
    },
  },
  {
    name: 'what cannot be done fails by a status',
    checks: ['credit: refused where it cannot be done'],
    why: /UNIMPLEMENTED/,
    lie: () => ({
      describe: async (request, forward) => ({ ...(await forward(request)), credits: false }),
      credit: async () => {
        throw Object.assign(new Error('no'), { code: status.UNIMPLEMENTED });
      },
    }),
  },
  {
    name: 'what Describe denies is done',
    checks: ['credit: refused where it cannot be done'],
    why: /\+ 'APPROVED'/,
    lie: () => ({ describe: async (request, forward) => ({ ...(await forward(request)), credits: false }) }),
  },
  {
    name: 'pages that Describe denies are opened',
    checks: ['checkouts: refused where they cannot be done'],
    why: /a page where there are none: answered/,
    lie: () => ({ describe: async (request, forward) => ({ ...(await forward(request)), checkouts: false }) }),
  },
  {
    name: 'a second capture where Describe says one only',
    checks: ['captures: a second refused where one only'],
    why: /a second capture: was answered APPROVED/,
    lie: () => ({
      async describe(request, forward) {
        const description = await forward(request);
        const { authorizations } = description;
        return {
          ...description,
          ...(authorizations && { authorizations: { ...authorizations, severalCaptures: false } }),
        };
      },
    }),
  },
  {
    name: 'accepted where Describe says that nothing is',
    checks: ['capture: approved', 'describe: nothing is ACCEPTED'],
    why: /operations that were ACCEPTED/,
    lie: () => {
      const seen = new Set<unknown>();
      return {
        describe: async (request, forward) => ({ ...(await forward(request)), accepts: false }),
        async capture(request, forward) {
          const isFirst = !seen.has(request.requestId);
          seen.add(request.requestId);
          return withResult(await forward(request), () => (isFirst ? { answer: Answer.ACCEPTED } : {}));
        },
      };
    },
  },
  {
    name: 'calls together taken without a credential',
    checks: ['credential: calls together without it'],
    why: /CallMany without the credential/,
    lie: () => ({ letsAnybodyIn: true }),
  },
  {
    name: "calls together that get each other's answers, of 64",
    checks: ['calls together: 64 of every kind'],
    why: /names .*, and .* was asked|has no result|sent together|does not allow/,
    lie: () => ({ mixesCalls: true }),
  },
];
