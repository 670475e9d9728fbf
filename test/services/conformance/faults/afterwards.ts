/** Faults of kinds that were thought of when the kit was done. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { Answer, type Entry, EntryKind, Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Lie } from '../liar.ts';
import { again, approval, type Fault, later, listing, reporting, telling } from './fault.ts';

/** A fault, in short. */
type Planted = readonly [
  name: string,
  check: string | Fault['checks'],
  why: RegExp,
  lie: () => Lie,
  eventWithinMs?: number,
];

const PLANTED: readonly Planted[] = [
  [
    'an inquiry that forgets what was declined',
    'authorization: declined',
    /the result of an inquiry about a refusal/,
    () => ({
      async inquire(request, forward) {
        const response = await forward(request);
        if (response.result?.answer !== Answer.DECLINED) return response;
        const { result: _, ...rest } = response;
        return { ...rest, finding: Finding.NEVER_SEEN, fenced: true };
      },
    }),
  ],
  [
    'identifiers compared without regard to the last digit',
    'capture: approved',
    /the result names .*, and .* was asked/,
    () => ({
      capture(request, forward) {
        const asked = String(request.requestId);
        // Another one always: a sixteenth of all identifiers end in 0.
        const last = asked.endsWith('0') ? '1' : '0';
        return forward({ ...request, requestId: asked.slice(0, -1) + last });
      },
    }),
  ],
  [
    'refunds bounded by the hold, not by the capture',
    'refunds: of one capture, not of another',
    /a refund of more than its capture: was answered APPROVED/,
    () => {
      const paid = new Map<unknown, bigint>();
      return telling('refund', ({ errorCode }, { authorizationRequestId, amount }) => {
        if (errorCode !== 'amount_exceeds_capture') return {};
        const sum = (paid.get(authorizationRequestId) ?? 0n) + (amount as bigint);
        paid.set(authorizationRequestId, sum);
        return sum < 2_000n ? approval : {};
      });
    },
  ],
  [
    'a final flag that is ignored in a repetition',
    'capture: another request',
    /final_capture: was answered APPROVED/,
    () => {
      const flags = new Map<unknown, boolean>();
      return {
        capture(request, forward) {
          const finalCapture = flags.get(request.requestId) ?? request.finalCapture ?? false;
          flags.set(request.requestId, finalCapture);
          return forward({ ...request, finalCapture });
        },
      };
    },
  ],
  [
    'a merchant in capital letters taken for the same',
    "void: of one's own only",
    /void of another merchantId: was answered APPROVED/,
    () => ({ void: (request, forward) => forward({ ...request, merchantId: 'conformance' }) }),
  ],
  [
    'the end of a hold lost after an increment',
    'increment: approved',
    /expires_at is in the future/,
    () =>
      telling('incrementAuthorization', ({ answer }) =>
        answer === Answer.APPROVED ? { expiresAt: timestampFromMs(Date.now() + 1_000) } : {},
      ),
  ],
  [
    'capabilities that change with an increment',
    'increment: accepted, it ends',
    /the answer to a repeated request, after the end/,
    () =>
      telling(
        'incrementAuthorization',
        ({ capabilities }) => capabilities && { capabilities: { ...capabilities, refunds: false } },
      ),
  ],
  [
    'events in the order of their identifiers, held back until another comes',
    'events: captureReversed that was refused',
    /no event captureReversed/,
    () => {
      let kept: (() => Promise<object>) | undefined;
      return {
        async reportEvent(request, forward) {
          const last = kept;
          kept = () => forward(request);
          return last ? last() : {};
        },
      };
    },
    4_000,
  ],
  [
    'the card of another customer in a repeated answer',
    'authorization: repeated',
    /the answer to a repeated request/,
    () => {
      const seen = new Set<unknown>();
      return telling('authorize', ({ card }, { requestId }) => {
        const isFirst = !seen.has(requestId);
        seen.add(requestId);
        return isFirst || !card ? {} : { card: { ...card, last4: '1111' } };
      });
    },
  ],
  [
    'a fence under a kind only',
    'refund: fenced, it never acts',
    /an identifier that was fenced: was answered APPROVED/,
    () => {
      const kinds = new Map<unknown, unknown>();
      return {
        inquire: (request, forward) => {
          kinds.set(request.requestId, request.kind);
          return forward(request);
        },
        async refund(request, forward) {
          const response = await forward(request);
          const isOther = kinds.get(request.requestId) !== EntryKind.CAPTURE;
          return response.result?.errorCode === 'fenced' && isOther ? again(request, forward) : response;
        },
      };
    },
  ],
  [
    'voids listed with what was asked for instead of what they gave',
    'voids: what is left of a hold',
    /gave back more than the authorization shows/,
    () =>
      listing((entry) =>
        entry.kind === EntryKind.VOID && entry.amount === 9_000n ? { ...entry, amount: 10_000n } : entry,
      ),
  ],
  [
    'changes that do not move the time of change of a refunded capture',
    'books: what changed since',
    /what a refund has changed/,
    () => ({
      async listEntries(request, forward) {
        const response = await forward(request);
        const isMoved = (one: Entry) => !(request.changedFrom && one.kind === EntryKind.CAPTURE && one.refunded > 0n);
        return { ...response, entries: response.entries.filter(isMoved) };
      },
    }),
  ],
  [
    'a reinstatement that the books do not have',
    'events: a reversal that is reinstated',
    /the sums of the authorization in the books/,
    () => {
      const taken = new Set<string>();
      return {
        reportEvent(request, forward) {
          if (request.event.case === 'captureReversed') taken.add(request.event.value.captureRequestId);
          return forward(request);
        },
        async listEntries(request, forward) {
          const response = await forward(request);
          const capture = response.entries.find(({ requestId }) => taken.has(requestId));
          const isOf = ({ requestId }: Entry) =>
            [capture?.requestId, capture?.authorizationRequestId].includes(requestId);
          const entries = response.entries.map((one) => (isOf(one) ? { ...one, reversed: 1_000n } : one));
          return { ...response, entries };
        },
      };
    },
  ],
  [
    'a dispute reported with the time of its report',
    'events: captureReversed that was refused',
    /occurred_at of a repeated event/,
    () => reporting((request) => ({ ...request, occurredAt: timestampFromMs(Date.now()) })),
  ],
  [
    'an accepted operation that answers APPROVED when it is repeated at once',
    'capture: accepted, it ends',
    /the (result, which a repetition said|answer to a repeated request)/,
    () => {
      const seen = new Set<unknown>();
      return telling('capture', ({ answer }, { requestId }) => {
        if (answer !== Answer.ACCEPTED) return {};
        const isKnown = seen.has(requestId);
        seen.add(requestId);
        return isKnown ? { answer: Answer.APPROVED, reference: 'early' } : {};
      });
    },
  ],
  [
    'pages that are opened for the rest of the day',
    'checkouts: opened once',
    /it closes when it was asked to/,
    () => ({
      async createCheckout(request, forward) {
        return { ...(await forward(request)), expiresAt: later(timestampFromMs(Date.now()), 1) };
      },
    }),
  ],
  [
    'a capture of an expired hold done when it was asked for before the end',
    'captures: not after the end',
    /was answered NOT_PERFORMED authorization_closed, not authorization_expired/,
    () =>
      telling('capture', ({ errorCode }) =>
        errorCode === 'authorization_expired' ? { errorCode: 'authorization_closed' } : {},
      ),
  ],
  [
    'a second page of the books that leaves out what came meanwhile',
    ['captures: several, up to the whole', 'books: pages without gap'],
    /the entries of one authorization/,
    () => {
      let first = 0;
      return {
        async listEntries(request, forward) {
          const response = await forward(request);
          if (request.pageToken === '') first = response.entries.length;
          const isRest = request.pageToken !== '' && first > 1 && request.authorizationRequestId !== '';
          return isRest ? { ...response, entries: response.entries.slice(0, -1) } : response;
        },
      };
    },
  ],
  [
    'busy answered by a status that says that it was not done',
    'capture: 20 times at once',
    /statuses that refuse what was done/,
    () => {
      let underWay = 0;
      return {
        async capture(request, forward) {
          underWay += 1;
          try {
            if (underWay > 10) throw Object.assign(new Error('busy'), { code: status.INVALID_ARGUMENT });
            return await forward(request);
          } finally {
            underWay -= 1;
          }
        },
      };
    },
  ],
];

export const AFTERWARDS: readonly Fault[] = PLANTED.map(([name, check, why, lie, eventWithinMs]) => ({
  name,
  checks: typeof check === 'string' ? [check] : check,
  why,
  lie,
  ...(eventWithinMs !== undefined && { eventWithinMs }),
}));
