/** Events that nobody asked for. */
import assert from 'node:assert/strict';
import { create } from '@bufbuild/protobuf';
import { v7 as uuidv7 } from 'uuid';
import {
  AuthorizationEnd,
  type ReportEventRequest,
  ReportEventRequestSchema,
} from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Lie } from '../../services/conformance/liar.ts';

type Said = ReportEventRequest['event'];

/** What the processor was asked for lately, by kind. */
interface Seen {
  readonly authorizations: string[];
  readonly captures: string[];
  readonly refunds: string[];
  readonly credits: string[];
}

/** With each event that happens, others of which nothing happened. */
function besides(name: string, invent: (seen: Seen, request: ReportEventRequest) => object[]) {
  const seen: Seen = { authorizations: [], captures: [], refunds: [], credits: [] };
  const noting =
    (kind: keyof Seen): NonNullable<Lie['capture']> =>
    async (request, forward) => {
      const answer = await forward(request);
      seen[kind].unshift(request.requestId ?? '');
      seen[kind].splice(MOST);
      return answer;
    };
  const lie = {
    authorize: noting('authorizations'),
    capture: noting('captures'),
    refund: noting('refunds'),
    credit: noting('credits'),
    async reportEvent(request: ReportEventRequest, forward: (request: ReportEventRequest) => Promise<object>) {
      const answer = await forward(request);
      for (const event of invent(seen, request)) {
        const { occurredAt } = request;
        const invented = { eventId: uuidv7(), ...(occurredAt && { occurredAt }), event: event as Said };
        // Whether it is believed is judged by what becomes of it.
        await forward(create(ReportEventRequestSchema, invented)).catch(({ code }) => assert(code > 0));
      }
      return answer;
    },
  } as unknown as Lie;
  return { name, lie };
}

/** Of each kind, so many are remembered. */
const MOST = 4;

const reversed = (captureRequestId: string, amount: bigint) => ({
  case: 'captureReversed',
  value: { captureRequestId, authorizationRequestId: '', amount, reference: 'unasked' },
});
const refundReturned = (refundRequestId: string) => ({
  case: 'refundReturned',
  value: { refundRequestId, amount: 1n, reference: 'unasked' },
});
const creditReturned = (creditRequestId: string) => ({
  case: 'creditReturned',
  value: { creditRequestId, amount: 1n, reference: 'unasked' },
});
const ended = (requestId: string) => ({
  case: 'authorizationEnded',
  value: { requestId, end: AuthorizationEnd.VOIDED, amount: 10_000n, reference: 'unasked' },
});
const chargedByOthers = (authorizationRequestId: string) => ({
  case: 'foreignCapture',
  value: { authorizationRequestId, captureRequestId: uuidv7(), amount: 700n, reference: 'unasked' },
});

export const UNASKED: readonly { readonly name: string; readonly lie: Lie }[] = [
  besides('reversals that nobody made', ({ captures }) => captures.map((id) => reversed(id, 100n))),
  besides('ends that nobody made', ({ authorizations }) => authorizations.map(ended)),
  besides('returns that nobody made', ({ refunds, credits }) => [
    ...refunds.map(refundReturned),
    ...credits.map(creditReturned),
  ]),
  besides('charges by others that nobody made', ({ authorizations }) => authorizations.map(chargedByOthers)),
  besides('everything that happened, under a second id', (_, { event }) => [event]),
  besides('events about what nobody knows', () => {
    const id = uuidv7();
    return [reversed(id, 1n), refundReturned(id), creditReturned(id), ended(id), chargedByOthers(id)];
  }),
  besides('events about operations of another kind', ({ captures, refunds, authorizations }) => [
    ...captures.map(refundReturned),
    ...refunds.map((id) => reversed(id, 1n)),
    ...authorizations.map(creditReturned),
  ]),
];
