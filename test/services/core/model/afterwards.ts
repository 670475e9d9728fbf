/** What happens after something was OK: refunds come back from the bank, and results are corrected there and back. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { behaviourOf } from '../../../../services/sandbox/behaviour.ts';
import type { Attempt } from './attempt.ts';
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

/** An operator says that a capture was not done, and then that it was. The hold is not frozen afterwards. */
export async function correct(world: World, subject: Subject, command: Command): Promise<void> {
  const model = certain(subject);
  if (!model || isClosing(model) || behaviourOf(model.token).reversal) return;
  const isFree = ({ kind, key }: Attempt) =>
    kind === 'CAPTURE' && key !== '' && refundedOf(model, key, ['OK', 'OPEN']) === 0;
  const capture = pickOf(model, command, isFree);
  if (!capture) return;
  const { requestId } = await named(world, subject, capture.key);
  for (const outcome of [OperationState.KO, OperationState.OK]) {
    await world.operators.correctOperation({ requestId, outcome, reason: 'the model wants it' });
  }
  capture.corrections += 1;
  model.frozen = false;
  subject.story.push(`correct ${capture.key}`);
  world.faults.happened('corrected');
}

function certain({ possible }: Subject): HoldModel | undefined {
  const [model] = possible;
  return possible.length === 1 && model?.kind === 'HOLD' && model.placing === 'OK' ? model : undefined;
}

function pickOf(model: HoldModel, { pick }: Command, fits: (attempt: Attempt) => boolean): Attempt | undefined {
  const done = model.attempts.filter((attempt) => attempt.state === 'OK' && attempt.key !== '' && fits(attempt));
  return done[pick % Math.max(1, done.length)];
}
