/** What happens after something was OK: refunds come back from the bank, and results are corrected there and back. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { stagesOf } from '../../../../services/sandbox/behaviour.ts';
import { APPROVED, type Attempt, refused } from './attempt.ts';
import type { Command } from './commands.ts';
import { type HoldModel, isClosing } from './hold-model.ts';
import { refundedOf } from './judge-model.ts';
import { named, type Subject } from './subject.ts';
import type { World } from './world.ts';

/** The bank gives a refund back, in full or in part; the processor says it by an event, or as a result. */
export async function comeBack(world: World, subject: Subject, command: Command): Promise<void> {
  const model = certain(subject);
  const refund = model && pickOf(model, command, ({ kind, of }) => kind === 'REFUND' && of !== undefined);
  if (refund) await returnRefund(world, subject, refund, command.final);
}

/** The processor returns it in its books, and tells core. */
export async function returnRefund(world: World, subject: Subject, refund: Attempt, inPart = false): Promise<void> {
  const left = refund.amount - refund.returned;
  if (left === 0) return;
  const amount = inPart ? Math.ceil(left / 2) : left;
  const { identifier } = await named(world, subject, refund.key);
  const entry = world.oracleOf(subject).find(identifier) ?? assert.fail();
  const ledger = new DatabaseSync(world.ledgerOf(subject), { timeout: 5_000 });
  ledger.prepare('update entry set returned = returned + ? where requestId = ?').run(amount, identifier);
  for (const id of [entry.captureRequestId, entry.authorizationRequestId])
    ledger.prepare('update entry set refunded = refunded - ? where requestId = ?').run(amount, id);
  ledger.close();
  const value = { refundRequestId: identifier, amount: BigInt(amount), reference: 'back' };
  const result = { answer: 3, errorCode: 'account_closed' };
  await world.tell(subject, {
    eventId: `back-${randomUUID()}`,
    occurredAt: timestampNow(),
    event: inPart
      ? { case: 'refundReturned', value }
      : { case: 'operationSettled', value: { requestId: identifier, result } },
  });
  refund.returned += amount;
  refund.returns += 1;
  subject.story.push(`back ${refund.key} ${amount}`);
  world.faults.happened('refund came back');
}

/**
 * An operator says how something ended in truth: a refund that was told as failed was done after all, one that was told
 * as done was not, or a capture or partial release was not done, and then it was. The hold is not frozen afterwards.
 */
export async function correct(world: World, subject: Subject, command: Command): Promise<void> {
  const model = certain(subject);
  if (!model || stagesOf(model.token, 'capture').length > 0) return;
  const failed = model.attempts.find((attempt) => canBeDone(model, attempt));
  const done = pickOf(
    model,
    command,
    ({ kind, of, returned }) => kind === 'REFUND' && of !== undefined && returned === 0,
  );
  if (failed) await refundWasDone(world, subject, failed);
  else if (done && command.final) await refundWasNotDone(world, subject, done);
  else return correctThereAndBack(world, subject, command, model);
  model.frozen = false;
}

/** A refund that has failed, of a capture that has room for it. */
function canBeDone(model: HoldModel, { kind, key, state, of, amount }: Attempt): boolean {
  if (kind !== 'REFUND' || key === '' || state !== 'KO') return false;
  const capture = model.attempts.find((each) => each.key === of);
  return capture?.state === 'OK' && amount <= capture.amount - refundedOf(model, capture.key, ['OK', 'OPEN']);
}

/** The processor tells that it was done, which is contradicted, until an operator believes it. */
async function refundWasDone(world: World, subject: Subject, refund: Attempt): Promise<void> {
  const { identifier, requestId } = await named(world, subject, refund.key);
  const capture = await named(world, subject, refund.of ?? '');
  const oracle = world.oracleOf(subject);
  const charged = oracle.find(capture.identifier) ?? assert.fail();
  if (!oracle.find(identifier)) return;
  inLedger(world, subject, (ledger) => {
    const { merchantId, account, currency, authorizationRequestId } = charged;
    const values = [merchantId, account, currency, authorizationRequestId, capture.identifier, refund.amount];
    ledger
      .prepare(`update entry set kind = 'refund', answer = 1, errorCode = '', errorMessage = '', reference = 'late',
        merchantId = ?, account = ?, currency = ?, authorizationRequestId = ?, captureRequestId = ?, amount = ?
        where requestId = ?`)
      .run(...values, identifier);
    for (const id of [capture.identifier, authorizationRequestId])
      ledger.prepare('update entry set refunded = refunded + ? where requestId = ?').run(refund.amount, id);
  });
  await tellResultOf(world, subject, identifier, { answer: 1, reference: 'late' });
  if (!(await isReviewed(world, subject, requestId))) subject.fail(`an operator sees what contradicts ${refund.key}`);
  const { merchantId, requestId: holdRequestId } = subject;
  const read = await world.cores[0].holds.getPreauthorization({ merchantId, requestId: holdRequestId });
  if (!read.preauthorization?.frozen) subject.fail(`what contradicts ${refund.key} freezes its hold`);
  await believe(world, requestId, 'OK');
  Object.assign(refund, { state: 'OK', answer: APPROVED, truth: APPROVED });
  refund.corrections.push('OK');
  subject.story.push(`done after all ${refund.key}`);
  world.faults.happened('refund was done after all');
}

async function refundWasNotDone(world: World, subject: Subject, refund: Attempt): Promise<void> {
  const { identifier, requestId } = await named(world, subject, refund.key);
  const { captureRequestId, authorizationRequestId } = world.oracleOf(subject).find(identifier) ?? assert.fail();
  inLedger(world, subject, (ledger) => {
    ledger.prepare("update entry set answer = 3, errorCode = 'undone' where requestId = ?").run(identifier);
    for (const id of [captureRequestId, authorizationRequestId])
      ledger.prepare('update entry set refunded = refunded - ? where requestId = ?').run(refund.amount, id);
  });
  await believe(world, requestId, 'KO');
  Object.assign(refund, { state: 'KO', answer: UNDONE, truth: UNDONE });
  refund.corrections.push('KO');
  subject.story.push(`not done ${refund.key}`);
  world.faults.happened('refund was not done');
}

const UNDONE = refused('corrected_by_operator');

async function correctThereAndBack(world: World, subject: Subject, command: Command, model: HoldModel): Promise<void> {
  if (isClosing(model)) return;
  const isFree = ({ kind, key, on }: Attempt) =>
    key !== '' &&
    on === model.present &&
    (kind === 'PART' || (kind === 'CAPTURE' && refundedOf(model, key, ['OK', 'OPEN']) === 0));
  const done = pickOf(model, command, isFree);
  if (!done) return;
  const { requestId } = await named(world, subject, done.key);
  for (const outcome of ['KO', 'OK'] as const) await believe(world, requestId, outcome);
  done.corrections.push('KO', 'OK');
  model.frozen = false;
  subject.story.push(`correct ${done.key}`);
  world.faults.happened('corrected');
  if (done.kind === 'PART') world.faults.happened('partial release corrected');
}

/** What happens to an OCT later: it comes back, was not done in truth, or was done though it was told as failed. */
export async function afterOct(world: World, subject: Subject, { pick, final }: Command): Promise<void> {
  const [model] = subject.possible;
  if (!model || subject.possible.length > 1) return;
  if (model.placing === 'OK' && pick % 3 === 0) return octWasNotDone(world, subject, model);
  if (model.placing === 'OK' && pick % 3 === 1) return octCameBack(world, subject, model, final);
  if (model.placing === 'KO') return octWasDone(world, subject, model);
}

async function octCameBack(world: World, subject: Subject, model: HoldModel, inPart: boolean): Promise<void> {
  const { identifier, requestId } = subject;
  const amount = inPart ? Math.ceil(model.amount / 2) : model.amount;
  setEntry(world, subject, 'returned = ?', amount);
  const value = { creditRequestId: identifier, amount: BigInt(amount), reference: 'back' };
  const event = { eventId: `back-${randomUUID()}`, occurredAt: timestampNow() };
  if (inPart) await world.tell(subject, { ...event, event: { case: 'creditReturned', value } });
  else await tellResultOf(world, subject, identifier, { answer: 3, errorCode: 'account_closed' });
  const { oct } = await world.cores[0].octs.getOct({ merchantId: subject.merchantId, requestId });
  if (oct?.amountReturned !== BigInt(amount)) subject.fail(`${oct?.amountReturned} came back, not ${amount}`);
  model.returned += amount;
  model.returns += 1;
  subject.story.push(`back ${amount}`);
  world.faults.happened('OCT came back');
}

async function octWasNotDone(world: World, subject: Subject, model: HoldModel): Promise<void> {
  setEntry(world, subject, 'answer = 3, errorCode = ?', 'undone');
  await believe(world, subject.requestId, 'KO');
  Object.assign(model, { placing: 'KO', answer: UNDONE, truth: UNDONE });
  model.corrections.push('KO');
  subject.story.push('not done');
  world.faults.happened('OCT was not done');
}

async function octWasDone(world: World, subject: Subject, model: HoldModel): Promise<void> {
  const { identifier, requestId } = subject;
  if (world.oracleOf(subject).find(identifier)?.kind !== 'credit') return;
  setEntry(world, subject, "answer = 1, errorCode = '', errorMessage = '', reference = ?", 'late');
  await tellResultOf(world, subject, identifier, { answer: 1, reference: 'late' });
  if (!(await isReviewed(world, subject, requestId))) subject.fail('an operator sees what contradicts it');
  await believe(world, requestId, 'OK');
  Object.assign(model, { placing: 'OK', answer: APPROVED, truth: APPROVED });
  model.corrections.push('OK');
  subject.story.push('done after all');
  world.faults.happened('OCT was done after all');
}

async function believe(world: World, requestId: string, outcome: 'OK' | 'KO'): Promise<void> {
  await world.operators.correctOperation({ requestId, outcome: OperationState[outcome], reason: 'the model wants it' });
}

/** Whether an operator is shown that something is contradicted. */
async function isReviewed(world: World, { merchantId, requestId: subject }: Subject, requestId: string) {
  const about = new Set([subject, requestId]);
  let pageToken = '';
  do {
    const page = await world.operators.listReviewItems({ merchantId, pageSize: 200, pageToken });
    if (page.items.some((item) => about.has(item.requestId) && item.contradictions.length > 0)) return true;
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return false;
}

async function tellResultOf(
  world: World,
  subject: Subject,
  requestId: string,
  result: { answer: number; errorCode?: string; reference?: string },
): Promise<void> {
  await world.tell(subject, {
    eventId: `later-${randomUUID()}`,
    occurredAt: timestampNow(),
    event: { case: 'operationSettled', value: { requestId, result } },
  });
}

function setEntry(world: World, subject: Subject, what: string, value: string | number): void {
  inLedger(world, subject, (ledger) =>
    ledger.prepare(`update entry set ${what} where requestId = ?`).run(value, subject.identifier),
  );
}

/** Changes the books of the subject's processor. */
export function inLedger(world: World, subject: Subject, change: (ledger: DatabaseSync) => unknown): void {
  const ledger = new DatabaseSync(world.ledgerOf(subject), { timeout: 5_000 });
  try {
    change(ledger);
  } finally {
    ledger.close();
  }
}

function certain({ possible }: Subject): HoldModel | undefined {
  const [model] = possible;
  return possible.length === 1 && model?.kind === 'HOLD' && model.placing === 'OK' ? model : undefined;
}

function pickOf(model: HoldModel, { pick }: Command, fits: (attempt: Attempt) => boolean): Attempt | undefined {
  const done = model.attempts.filter((attempt) => attempt.state === 'OK' && attempt.key !== '' && fits(attempt));
  return done[pick % Math.max(1, done.length)];
}
