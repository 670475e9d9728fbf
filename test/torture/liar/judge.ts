/** Holds what a merchant was told against what the processor said, and each refused event against what operators see. */
import assert from 'node:assert/strict';
import { create } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import {
  type ReportEventRequest,
  ReportEventRequestSchema,
} from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer, type Result } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { subjectOf } from '../../../services/conformance/inbox.ts';
import type { Lie } from '../../services/conformance/liar.ts';
import { sql } from '../../services/core/shop.ts';
import type { Stage } from '../../services/core/stage.ts';

/** What the processor said to core. */
export class Transcript {
  /** Identifiers of which it said that they were approved. */
  readonly approved = new Set<string>();
  /** Its events, by their id, and how core answered the last report of each. */
  readonly events = new Map<string, { readonly request: ReportEventRequest; readonly refusal: string | undefined }>();

  /** A lie that is noted as it is told. */
  noting(lie: Lie): Lie {
    const noted = SENT.map((method) => [method, this.#sent(lie[method as 'capture'])]);
    return {
      ...lie,
      ...Object.fromEntries(noted),
      reportEvent: (request, forward) => {
        const note = (said: ReportEventRequest) => this.#reported(said, forward);
        return lie.reportEvent ? lie.reportEvent(request, note) : note(request);
      },
    };
  }

  #sent(told: Lie['capture']): NonNullable<Lie['capture']> {
    return async (request, forward) => {
      const answer = await (told ? told(request, forward) : forward(request));
      this.#note(request.requestId ?? '', answer.result);
      return answer;
    };
  }

  async #reported(request: ReportEventRequest, forward: (request: ReportEventRequest) => Promise<object>) {
    const { event } = request;
    if (event.case === 'operationSettled' || event.case === 'checkoutCompleted') {
      this.#note(event.value.requestId, event.value.result);
    }
    try {
      const answer = await forward(request);
      this.events.set(request.eventId, { request, refusal: undefined });
      return answer;
    } catch (error) {
      const refusal = REFUSED_FOR_GOOD.has((error as { code: number }).code) ? String(error) : undefined;
      if (refusal) this.events.set(request.eventId, { request, refusal });
      throw error;
    }
  }

  #note(requestId: string, result: Result | undefined): void {
    if (result?.answer === Answer.APPROVED) this.approved.add(requestId);
  }
}

const SENT = [
  ...['authorize', 'capture', 'void', 'credit', 'incrementAuthorization', 'extendAuthorization', 'refund'],
  'inquire',
];

/** INVALID_ARGUMENT, NOT_FOUND: the event will never be taken as it is. */
const REFUSED_FOR_GOOD: ReadonlySet<number> = new Set([3, 5]);

const validator = createValidator();

/** What came back, or was given again, of something, as a merchant is told, and by which events. */
interface CameBack {
  readonly subject: string;
  readonly kind: keyof typeof BACK;
  readonly times: number;
  readonly amount: bigint;
}

const BACK = {
  REVERSAL: 'captureReversed',
  REINSTATEMENT: 'captureReinstated',
  REFUND_RETURN: 'refundReturned',
  OCT_RETURN: 'creditReturned',
} as const;

/** Judges what is told of the operations that `asked` names, at their identifiers. */
export async function judge(stage: Stage, transcript: Transcript, asked: ReadonlySet<string>): Promise<void> {
  for (const { id, kind } of await sql<{ id: string; kind: string }>(stage, OK, [[...asked]])) {
    assert(transcript.approved.has(id), `${kind} ${id} is told as done, which the processor never said`);
  }
  for (const { subject, kind, times, amount } of await sql<CameBack>(stage, CAME_BACK, [[...asked]])) {
    const said = [...transcript.events.values()].filter(({ request, refusal }) => {
      const isOther = request.event.case !== BACK[kind] && request.event.case !== 'operationSettled';
      return refusal === undefined && !isOther && subjectOf(request.event) === subject;
    });
    assert(times <= said.length, `${kind} of ${subject} ${times} times, by ${said.length} events`);
    const amounts = said.map(({ request: { event } }) => {
      return 'amount' in (event.value ?? {}) ? (event.value as { amount: bigint }).amount : MOST;
    });
    const most = amounts.reduce((sum, each) => sum + each, 0n);
    assert(BigInt(amount) <= most, `${amount} came back of ${subject}, the events said ${most}`);
  }
  await judgeRefusals(stage, transcript);
  await judgeSums(stage);
}

/** A result says that all of it came back. */
const MOST = 10n ** 15n;

/** Each event that is refused for good is kept for an operator. */
async function judgeRefusals(stage: Stage, { events }: Transcript): Promise<void> {
  const rows = await sql<{ id: string }>(stage, 'select event_id as id from contradiction where event_id is not null');
  const kept = new Set(rows.map(({ id }) => id));
  for (const [id, { request, refusal }] of events) {
    // What breaks the rules of its own fields says nothing that could be kept.
    if (!refusal || request.event.case === undefined) continue;
    const { occurredAt, event } = request;
    const said = create(ReportEventRequestSchema, { eventId: id, ...(occurredAt && { occurredAt }), event });
    if (validator.validate(ReportEventRequestSchema, said).kind !== 'valid') continue;
    assert(kept.has(id), `no operator sees the event ${id}, ${request.event.case}, which is refused: ${refusal}`);
  }
}

/** What is refunded, reversed and has come back follows from the results alone, as soon as they are told. */
export async function judgeSums(stage: Stage): Promise<void> {
  assert.deepEqual(await sql(stage, WRONG_SUMS), [], 'what is told as refunded or reversed adds up');
}

const OK = `select coalesce(s.processor_request_id, s.request_id)::text as id, o.kind from operation o
    join (select request_id, processor_request_id from hold
      union all select request_id, processor_request_id from submission where not reported) s on s.request_id = o.request_id
  where o.status = 'OK' and o.kind in ('HOLD', 'CAPTURE', 'INCREMENT', 'EXTENSION', 'REFUND', 'OCT')
    and s.request_id = any($1::uuid[])`;

const CAME_BACK = `select coalesce(o.refund_request_id, o.oct_request_id, o.capture_request_id, o.hold_request_id)::text
    as subject, o.kind, count(*)::int as times, sum(o.amount) as amount
  from operation o where o.kind in ('REVERSAL', 'REINSTATEMENT', 'REFUND_RETURN', 'OCT_RETURN')
    and coalesce(o.refund_request_id, o.oct_request_id, o.capture_request_id, o.hold_request_id) = any($1::uuid[])
  group by 1, 2`;

const WRONG_SUMS = `select h.request_id, h.refunded, h.reversed, told.* from hold h join (
    select o.hold_request_id,
      sum(case when o.kind = 'REFUND' and o.status = 'OK' then o.amount when o.kind = 'REFUND_RETURN' then -o.amount
        when o.kind = 'CORRECTION' and s.kind = 'REFUND' then case o.status when 'OK' then o.amount else -o.amount end
        else 0 end) as told_refunded,
      sum(case o.kind when 'REVERSAL' then o.amount when 'REINSTATEMENT' then -o.amount else 0 end) as told_reversed
    from operation o left join submission s on s.request_id = o.corrects_request_id
    where o.hold_request_id is not null group by 1
  ) told on told.hold_request_id = h.request_id
  where h.refunded <> told.told_refunded or h.reversed <> told.told_reversed
  union all select s.request_id, s.amount_returned, 0, s.request_id, told.returned, 0 from submission s join (
    select oct_request_id, sum(amount) as returned from operation where kind = 'OCT_RETURN' group by 1
  ) told on told.oct_request_id = s.request_id where s.amount_returned <> told.returned`;
