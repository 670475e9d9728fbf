import { Answer, type Entry, EntryKind } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Lie } from '../liar.ts';
import { approval, type Fault, listing, telling } from './fault.ts';

const SHOWN = 'renewals: the books show';
const ONE = 'renewals: what is done with one';

const refusal = (errorCode: string) => ({ answer: Answer.NOT_PERFORMED, errorCode, reference: '', bankReference: '' });

/** Knows which authorization was renewed by which. */
function keeping(lie: (renewedBy: ReadonlyMap<string, string>) => Lie): () => Lie {
  return () => {
    const renewedBy = new Map<string, string>();
    return {
      authorize(request, forward) {
        const { requestId, renews } = request;
        if (renews) renewedBy.set(renews, String(requestId));
        return forward(request);
      },
      ...lie(renewedBy),
    };
  };
}

/** Authorizations that renew others, and what is wrong with them. */
export const RENEWALS: readonly Fault[] = [
  {
    name: 'renewals that are placed, and not kept',
    checks: [SHOWN],
    why: /authorization_request_id of an authorization is the one that it renews/,
    lie: () => ({ authorize: (request, forward) => forward({ ...request, renews: '' }) }),
  },
  {
    name: 'renewals that the books show as holds of their own',
    checks: ['renewal: approved', 'books: everything that was answered stands in them'],
    why: /authorize .*: authorization is , not /,
    lie: () =>
      listing((entry) => (entry.kind === EntryKind.AUTHORIZATION ? { ...entry, authorizationRequestId: '' } : entry)),
  },
  {
    name: 'renewals among what was done with the one before',
    checks: [SHOWN],
    why: /what is listed of an authorization with which nothing was done/,
    lie: () => ({
      async listEntries(request, forward) {
        const { authorizationRequestId: of } = request;
        const response = await forward({ ...request, authorizationRequestId: '' });
        const isAbout = ({ requestId, authorizationRequestId }: Entry) =>
          !of || [requestId, authorizationRequestId].includes(of);
        const entries = response.entries.filter(isAbout);
        return { ...response, entries };
      },
    }),
  },
  {
    name: 'another renewal under an identifier of before',
    checks: ['renewal: another request under its identifier'],
    why: /^renews: was answered APPROVED/,
    lie: () => {
      const first = new Map<unknown, string | undefined>();
      return {
        authorize(request, forward) {
          const { requestId } = request;
          if (!first.has(requestId)) first.set(requestId, request.renews);
          return forward({ ...request, renews: first.get(requestId) ?? '' });
        },
      };
    },
  },
  {
    name: 'a renewal under the identifier of a hold',
    checks: ['authorization: another request under its identifier'],
    why: /^renews: was answered APPROVED/,
    lie: () => ({ authorize: (request, forward) => forward({ ...request, renews: '' }) }),
  },
  {
    name: 'a renewal that is taken for a repetition of the one before',
    checks: [SHOWN],
    why: /references of an authorization and of its renewals/,
    lie: () => {
      let first = '';
      return telling('authorize', ({ reference }) => {
        first ||= reference;
        return { reference: first };
      });
    },
  },
  {
    name: 'a renewal that takes the place of the one before at once',
    checks: [ONE],
    why: /a capture of the one before: capture with the token of its profile/,
    lie: keeping((renewedBy) =>
      telling('capture', (_, { authorizationRequestId }) =>
        renewedBy.has(String(authorizationRequestId)) ? refusal('authorization_voided') : {},
      ),
    ),
  },
  {
    name: 'a void of the one before that gives the new one back',
    checks: [ONE],
    why: /a void of the one before: the books say otherwise than the answers/,
    lie: keeping((renewedBy) => ({
      async void({ authorizationRequestId: of = '', ...request }, forward) {
        return forward({ ...request, authorizationRequestId: renewedBy.get(of) ?? of });
      },
    })),
  },
  {
    name: 'a renewal of what the adapter does not know is refused',
    checks: ['renewals: of an authorization that the adapter does not know'],
    why: /authorize with the token of its profile/,
    lie: () => {
      const known = new Set<unknown>();
      return {
        async authorize(request, forward) {
          const isKnown = !request.renews || known.has(request.renews);
          known.add(request.requestId);
          const response = await forward(request);
          return isKnown || !response.result
            ? response
            : { ...response, result: { ...response.result, ...refusal('authorization_not_found') } };
        },
      };
    },
  },
  {
    name: 'a refund that names the renewal of its authorization',
    checks: ['renewals: a refund is of'],
    why: /a refund that names the renewal of the authorization: was answered APPROVED/,
    lie: () => telling('refund', ({ errorCode }) => (errorCode === 'capture_not_found' ? { ...approval } : {})),
  },
  {
    name: 'a capture that is refused while the renewal has no result',
    checks: ['renewals: accepted, it delays nothing'],
    why: /capture with the token of its profile/,
    lie: keeping((renewedBy) =>
      telling('capture', (_, { authorizationRequestId }) =>
        renewedBy.has(String(authorizationRequestId)) ? refusal('operation_pending') : {},
      ),
    ),
  },
];
