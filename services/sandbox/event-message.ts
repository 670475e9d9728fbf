import assert from 'node:assert/strict';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { AuthorizationEnd, type ReportEventRequestSchema } from '../../proto/gen/holdfast/processor/v1/event_pb.js';
import { type BehaviourName, behaviourOf } from './behaviour.ts';
import type { Entry } from './ledger/entry.ts';
import type { Event } from './ledger/event.ts';
import type { Books } from './ledger/ledger.ts';
import { resultOf } from './rpc/outcome.ts';
import { reversalIdOf } from './rpc/perform.ts';

type Message = MessageInitShape<typeof ReportEventRequestSchema>;

/** An event as it is reported to core; the same at every report. */
export function messageOf(books: Books, event: Event): Message {
  const entry = books.entries.find(event.requestId);
  assert(entry, 'an event names an entry that is not there');
  const occurredAt = timestampFromMs(event.occurredAtMs);
  return { eventId: event.eventId, occurredAt, event: said(event, entry) };
}

function said({ kind, requestId, amount }: Event, entry: Entry): NonNullable<Message['event']> {
  const behaviour = behaviourOf(entry.behaviour as BehaviourName);
  switch (kind) {
    case 'checkoutCompleted':
    case 'operationSettled':
      return { case: kind, value: { requestId, result: resultOf(entry) } };
    case 'captureReversed': {
      const about = behaviour.reversal?.unattributed
        ? { authorizationRequestId: entry.authorizationRequestId }
        : { captureRequestId: requestId };
      return { case: kind, value: { ...about, amount: BigInt(amount), reference: `${entry.reference}_rev` } };
    }
    case 'captureReinstated': {
      const reference = `${entry.reference}_rei`;
      const reversalEventId = reversalIdOf(requestId);
      return { case: kind, value: { captureRequestId: requestId, amount: BigInt(amount), reference, reversalEventId } };
    }
    case 'authorizationEnded': {
      const end = behaviour.ended?.as === 'voided' ? AuthorizationEnd.VOIDED : AuthorizationEnd.EXPIRED;
      return { case: kind, value: { requestId, end, amount: BigInt(amount), reference: `${entry.reference}_end` } };
    }
  }
}
