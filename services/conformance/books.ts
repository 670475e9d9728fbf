/** What the books of the adapter must show. */
import assert from 'node:assert/strict';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Answer, type Entry, EntryKind, type Result } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Answered, authorizationOf, KIND_OF } from './requests.ts';

/** Demands that the entries of an authorization agree with its sums; answers its own entry. */
export function addUp(entries: readonly Entry[], requestId: string): Entry {
  const [authorization, ...more] = entries.filter((entry) => entry.requestId === requestId);
  assert(authorization, `the books do not know the authorization ${requestId}`);
  assert.equal(more.length, 0, `the books name the authorization ${requestId} twice`);
  const identifiers = new Set(entries.map((entry) => entry.requestId));
  assert.equal(identifiers.size, entries.length, 'an identifier stands in the books twice');
  const done = (kind: EntryKind) => entries.filter((entry) => entry.kind === kind && entry.answer === Answer.APPROVED);
  const captures = done(EntryKind.CAPTURE);
  const refunds = done(EntryKind.REFUND);
  const { captured, voided, amount, incremented, refunded, reversed } = authorization;
  assert.equal(captured, sum(captures), 'captured is what the captures of the authorization charged');
  assert.equal(incremented, sum(done(EntryKind.INCREMENT)), 'incremented is what increments added');
  const paidOut = (entries: readonly Entry[]) => entries.reduce((total, one) => total + one.amount - one.returned, 0n);
  assert.equal(refunded, paidOut(refunds), 'refunded is what refunds gave back, less what came back of them');
  const givenBack = sum(done(EntryKind.VOID)) + sum(done(EntryKind.DECREASE));
  assert(voided >= givenBack, 'voids and decreases gave back more than the authorization shows');
  for (const of of captures) {
    const refundsOfIt = refunds.filter((one) => one.captureRequestId === of.requestId);
    assert.equal(of.refunded, paidOut(refundsOfIt), 'what was refunded of a capture');
    assert(of.refunded <= of.amount, 'more was given back of a capture than it charged');
    assert(of.reversed <= of.amount, 'more was taken back of a capture than it charged');
  }
  assert(captured + voided <= amount + incremented, 'more was captured and given back than was reserved');
  for (const of of entries) assert(of.returned <= of.amount, 'more came back than was paid');
  assert(refunded <= captured, 'more was refunded than was captured');
  assert(reversed <= captured, 'more was taken back than was captured');
  return authorization;
}

/** Demands that the entries of an authorization add up, and say what was answered; answers its own entry. */
export function demandAgreement(
  entries: readonly Entry[],
  requestId: string,
  answered: ReadonlyMap<string, Answered>,
): Entry {
  const own = addUp(entries, requestId);
  const known = new Map(entries.map((entry) => [entry.requestId, entry]));
  const about = [...answered.values()].filter(
    ({ request }) => request.requestId === requestId || request.authorizationRequestId === requestId,
  );
  const found = about.flatMap((one) => differences(one, known.get(one.request.requestId)));
  assert.deepEqual(found, [], 'the books say otherwise than the answers');
  const released = about.map(({ result }) => (result.answer === Answer.APPROVED ? result.amountReleased : 0n) ?? 0n);
  const given = released.reduce((total, amount) => total + amount, 0n);
  // What the processor ended by itself was not answered.
  if (!own.endedAt)
    assert(own.voided >= given, `${given} was given back by the answers, and ${own.voided} by the books`);
  return own;
}

/** Demands what an operation gave back, where its result says it: an adapter may not know. */
export function demandReleased({ amountReleased }: Result, expected: bigint, what = 'amount_released'): void {
  if (amountReleased !== undefined) assert.equal(amountReleased, expected, what);
}

function sum(entries: readonly Entry[]): bigint {
  return entries.reduce((total, { amount }) => total + amount, 0n);
}

/** What the books say otherwise than an answer did, one line each. What was NOT_PERFORMED need not stand in them. */
export function differences({ request, result }: Answered, entry: Entry | undefined): string[] {
  const { method, requestId, merchantId, amount, currency, captureRequestId } = request;
  const { operationRequestId, merchantReference, memo } = request;
  const name = `${method} ${requestId}`;
  if (!entry) {
    const mayBeMissing = result.answer === Answer.NOT_PERFORMED;
    return mayBeMissing ? [] : [`${name} was answered ${Answer[result.answer]}, and is missing`];
  }
  const isVoid = method === 'void';
  const isHold = method === 'authorize';
  const isOrder = isHold || method === 'credit';
  /** Empty = the processor was not told, or does not keep it. */
  const ifKept = (inBooks: string, expected: string | undefined) => (isOrder && inBooks !== '' ? expected : undefined);
  const isApproved = result.answer === Answer.APPROVED;
  // An accepted operation has ended meanwhile, or not.
  const isFinal = result.answer !== Answer.ACCEPTED;
  /** What is expected to be undefined is not compared. */
  const compared = [
    ['kind', EntryKind[entry.kind], EntryKind[KIND_OF[method]]],
    ['answer', Answer[entry.answer], isFinal ? Answer[result.answer] : undefined],
    ['reference', entry.reference, isApproved ? result.reference : undefined],
    ['acted_at', msOf(entry.actedAt), isFinal ? msOf(result.actedAt) : undefined],
    ['authorization', entry.authorizationRequestId, authorizationOf(request)],
    ['capture', entry.captureRequestId, captureRequestId],
    ['amount', entry.amount, isVoid && isApproved ? result.amountReleased : amount],
    ['currency', entry.currency, currency],
    ['merchant', entry.merchantId, isVoid ? undefined : merchantId],
    ['account', entry.account, request.account || undefined],
    ['error_code', entry.errorCode, isFinal ? result.errorCode : undefined],
    ['operation_request_id', entry.operationRequestId || requestId, operationRequestId],
    [
      'merchant_reference',
      entry.merchantReference,
      isOrder || entry.merchantReference !== '' ? merchantReference : undefined,
    ],
    ['memo', entry.memo, isHold ? memo : undefined],
    ['terminal_id', entry.terminalId, ifKept(entry.terminalId, request.terminalId)],
    ['user_id', entry.userId, ifKept(entry.userId, request.userId)],
    ['token_id', entry.tokenId, ifKept(entry.tokenId, request.tokenId)],
  ];
  return compared
    .filter(([, inBooks, expected]) => expected !== undefined && inBooks !== expected)
    .map(([what, inBooks, expected]) => `${name}: ${what} is ${inBooks}, not ${expected}`);
}

function msOf(time: Entry['actedAt']): number | undefined {
  return time && timestampMs(time);
}
