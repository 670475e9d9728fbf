/** Holds what a merchant was told against the processor's books, and each refused event against what operators see. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import type { GrpcClient } from '../../../platform/grpc-client.ts';
import { ReportEventRequestSchema } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Operation, OperationKind, type OperationService } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { subjectOf } from '../../../services/conformance/inbox.ts';
import { sql } from '../../services/core/shop.ts';
import type { Stage } from '../../services/core/stage.ts';
import type { Transcript } from './transcript.ts';
import { type Known, type Told, untruths } from './truth.ts';

const validator = createValidator();

/** Where a merchant is told. */
export interface Records {
  readonly stage: Stage;
  readonly operations: GrpcClient<typeof OperationService>;
  /** Followed since before anything was told; absent = the database went back since then. */
  readonly stream?: { readonly told: readonly Operation[] };
}

/** What a round knows of its operations. */
export interface Round {
  readonly transcript: Transcript;
  /** The requests of it. */
  readonly asked: ReadonlySet<string>;
  readonly decided: Known['decided'];
  readonly areEventsTrue: boolean;
  /** What the calls were answered in the end, by request. */
  readonly answered: ReadonlyMap<string, 'OK' | 'KO'>;
}

/** Judges what a merchant is told of the operations of a round. */
export async function judge(house: Records, round: Round): Promise<void> {
  const { stage } = house;
  assert.deepEqual(untruths(await known(house, round)), [], 'what is told is what happened at the card');
  // What was kept of events for an operator is lost with the database's time.
  if (house.stream) await judgeRefusals(stage, round.transcript);
  await judgeSums(stage);
}

async function known(
  { stage, operations, stream }: Records,
  { transcript, asked, decided, areEventsTrue, answered }: Round,
): Promise<Known> {
  const listed = await listOperations(operations);
  const inOrder = (all: readonly Operation[]) => all.toSorted((a, b) => Number(a.sequence - b.sequence));
  for (let waits = 0; stream && stream.told.length < listed.length && waits < 100; waits++) await sleep(100);
  if (stream) assert.deepEqual(stream.told, inOrder(listed), 'the stream tells what the list tells');
  const rows = await sql<{ id: string; identifier: string; reported: boolean }>(stage, IDENTIFIERS, [[...asked]]);
  const identifiers = new Map(rows.filter(({ reported }) => !reported).map(({ id, identifier }) => [id, identifier]));
  const names = new Set([...identifiers.keys()]);
  const told = inOrder(listed)
    .map(toldOf)
    .filter(({ requestId, subject }) => names.has(requestId) || names.has(subject));
  for (const { requestId, state } of told) {
    const answer = answered.get(requestId);
    assert(answer === undefined || answer === state, `${requestId} was answered ${answer}, and is told as ${state}`);
  }
  const ended = await sql<{ id: string }>(stage, ENDED, [[...asked]]);
  const voided = await sql<{ id: string }>(stage, GIVEN_BACK);
  return {
    told,
    identifiers,
    ledger: new Map(stage.oracle.entries().map((entry) => [entry.requestId, entry])),
    said: (identifier) => transcript.said.get(identifier),
    // An import tells the sum of what came back, whatever was reported before.
    returns: stream ? await returnsOf(stage, transcript, identifiers) : () => ({ certain: [], possible: Infinity }),
    areEventsTrue,
    decided,
    givenBack: new Set(voided.map(({ id }) => id)),
    ended: new Set(ended.map(({ id }) => id)),
  };
}

function toldOf(operation: Operation): Told {
  const { requestId, amount, currency, processorReference, holdRequestId } = operation;
  const { correctsRequestId, refundRequestId, octRequestId, captureRequestId } = operation;
  return {
    requestId,
    kind: OperationKind[operation.kind] ?? '',
    state: operation.state === OperationState.OK ? 'OK' : 'KO',
    amount,
    currency,
    reference: processorReference,
    holdRequestId,
    subject: correctsRequestId || refundRequestId || octRequestId || captureRequestId || holdRequestId,
  };
}

async function listOperations(operations: Records['operations']): Promise<Operation[]> {
  const all: Operation[] = [];
  let pageToken = '';
  do {
    const page = await operations.listOperations({ merchantId: 'victim', pageSize: 200, pageToken });
    all.push(...page.operations);
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return all;
}

const BACK = {
  REVERSAL: 'captureReversed',
  REINSTATEMENT: 'captureReinstated',
  REFUND_RETURN: 'refundReturned',
  OCT_RETURN: 'creditReturned',
} as const;

/** What was reported to have come back, and was taken. */
async function returnsOf(
  stage: Stage,
  { reports: said }: Transcript,
  identifiers: Known['identifiers'],
): Promise<Known['returns']> {
  const rows = await sql<{ id: string }>(stage, 'select event_id as id from contradiction where event_id is not null');
  const contradicting = new Set(rows.map(({ id }) => id));
  const reports = [...said.values()];
  for (const [id, all] of Map.groupBy(reports, ({ request }) => request.eventId))
    if (all.length > 1) contradicting.add(id);
  const bySubject = Map.groupBy(reports, ({ request }) => subjectOf(request.event));
  return (kind, subject) => {
    const about = bySubject.get(identifiers.get(subject) ?? subject) ?? [];
    const certain: bigint[] = [];
    let possible = 0;
    for (const { request, isTaken } of about) {
      const { event, eventId } = request;
      const takesBack = event.case === 'operationSettled' && event.value.result?.answer === Answer.NOT_PERFORMED;
      if (event.case === BACK[kind as keyof typeof BACK] && isTaken && !contradicting.has(eventId)) {
        certain.push((event.value as { amount: bigint }).amount);
      } else if (takesBack || event.case === BACK[kind as keyof typeof BACK]) possible++;
    }
    return { certain, possible };
  };
}

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

const IDENTIFIERS = `select request_id::text as id, coalesce(processor_request_id, request_id)::text as identifier, reported
  from (select request_id, merchant_id, processor_request_id, false as reported from hold
    union all select request_id, merchant_id, processor_request_id, reported from submission) of_request
  where request_id = any($1::uuid[]) and merchant_id = 'victim'`;

/** The authorizations of renewals that were given back, or are to be. */
const GIVEN_BACK = `select authorization_id as id from submission where kind = 'LATE_VOID' and authorization_id is not null
  union all select to_void from hold where to_void is not null`;

/** What was given back otherwise than by a final capture. */
const ENDED = `select request_id::text as id from hold where request_id = any($1::uuid[]) and merchant_id = 'victim' and phase = 'AUTHORIZED'
  and status <> 'IN_PROGRESS' and release_reason in ('RELEASED', 'EXPIRED')`;

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
