/** What a customer does at the checkout, and what the processor reports of it and of everything else. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { pageUrlOf } from '../../../../services/core/rpc/preauthorization/present-hold.ts';
import { findHold } from '../../../../services/core/storage/hold/read-holds.ts';
import { behaviourOf, effectOf } from '../../../../services/sandbox/behaviour.ts';
import { TEST_CARDS } from '../../../../services/sandbox/checkout/test-card.ts';
import type { Event } from '../../../../services/sandbox/ledger/event.ts';
import { resultOf } from '../../../../services/sandbox/rpc/outcome.ts';
import { confirm, pay } from '../../sandbox/checkout/browse.ts';
import { inLedger, returnRefund } from './afterwards.ts';
import { type Command, tokenOf } from './commands.ts';
import { authorize } from './processor-model.ts';
import { settle, settlePlacing } from './settle-model.ts';
import { named, renewalsOf, type Subject } from './subject.ts';
import { MERCHANTS, type World } from './world.ts';

/** The customer pays; any fault here loses the sandbox's first event. */
export async function payAtCheckout(
  world: World,
  subject: Subject,
  command: Command,
  waiting: Promise<unknown>[],
): Promise<void> {
  const { now, events, stage } = world;
  const [model] = subject.possible;
  if (!model || subject.possible.length > 1 || !model.pageKnown || model.truth || now() >= model.pageEndsAt) return;
  if (model.stepUp) return answerIssuer(world, subject, command);
  const token = tokenOf(command, MERCHANTS[model.merchant]);
  const card = TEST_CARDS.find(({ behaviour }) => behaviour === token);
  if (!card) return;
  const row = (await findHold(stage.database.query, subject.requestId)) ?? assert.fail();
  const url = pageUrlOf(row, stage.recovery.cipher);
  const expiry = `12 / ${(new Date(now()).getUTCFullYear() + 5) % 100}`;
  const cvc = card.brand === 'amex' ? '1234' : '123';
  const paying = { number: card.number, expiry, cvc };
  const { answer, errorCode } = effectOf(token, 'authorization');
  if (answer === Answer.DECLINED || errorCode === 'token_invalid') {
    // The page completes, and core receives nothing.
    await pay(url, paying);
    subject.story.push(`pay ${token} (declined)`);
    return;
  }
  world.faults.happened('paid at the checkout');
  const lost = command.fault !== 'none';
  if (lost) events.drop.add(subject.identifier);
  const paid = pay(url, paying);
  if (lost) {
    waiting.push(paid);
    await events.dropped(subject.identifier);
    await untilDueSoon(world, subject);
  } else await paid;
  subject.story.push(`pay ${token}${lost ? ' (event lost)' : ''}`);
  model.token = token;
  authorize(model, now());
  if (lost) model.eventPending = true;
  else settlePlacing(model, model.truth ?? assert.fail(), now());
}

/** The customer of a step-up confirms, or refuses. */
async function answerIssuer(world: World, subject: Subject, { final }: Command): Promise<void> {
  const [model = assert.fail()] = subject.possible;
  const row = (await findHold(world.stage.database.query, subject.requestId)) ?? assert.fail();
  await confirm(pageUrlOf(row, world.stage.recovery.cipher), final ? 'fail' : 'pass');
  await world.untilTold(subject);
  subject.story.push(final ? 'refuse at the issuer' : 'confirm at the issuer');
  world.faults.happened('answered at the issuer');
  if (final) model.truth = { answer: 'DECLINED', code: 'authentication_failed' };
  else authorize(model, world.now());
  settlePlacing(model, model.truth ?? assert.fail(), world.now());
}

/**
 * While an event is being reported, it is put off for seconds; the sandbox reports it soon once it has seen the report
 * fail.
 */
async function untilDueSoon(world: World, subject: Subject): Promise<void> {
  // What it is to report later has not been tried yet.
  const isTried = ({ requestId, attempts, dueAtMs }: Event) =>
    requestId === subject.identifier && attempts > 0 && dueAtMs > world.now() + 1_000;
  while (world.oracleOf(subject).events().some(isTried)) await delay(5);
}

/** The processor reports its result of an attempt that is unknown to core. */
export async function tellResult(world: World, subject: Subject): Promise<void> {
  const [model] = subject.possible;
  if (!model || subject.possible.length > 1) return;
  const now = world.now();
  const attempt = model.attempts.find(({ state, truth, key }) => state === 'OPEN' && truth && key !== '');
  if (attempt?.truth) {
    await tellTruth(world, subject, (await named(world, subject, attempt.key)).identifier);
    settle(model, attempt, attempt.truth, now);
  } else if (model.placing === 'OPEN' && model.truth && !model.byCheckout) {
    await tellTruth(world, subject, subject.identifier);
    settlePlacing(model, model.truth, now);
  } else return;
  subject.story.push('tell');
  world.faults.happened('result told by event');
}

/** The processor reports what it did under an identifier. */
export async function tellTruth(world: World, subject: Subject, identifier: string): Promise<void> {
  const entry = world.oracleOf(subject).find(identifier);
  assert(entry, 'the processor knows the attempt that it reports');
  await world.tell(subject, {
    eventId: `truth-${identifier}`,
    occurredAt: timestampNow(),
    event: { case: 'operationSettled', value: { requestId: identifier, result: resultOf(entry) } },
  });
}

/** Somebody else ends the last or the last but one of the authorizations of a hold, when the clock goes on. */
export async function endSoon(world: World, subject: Subject, { pick }: Command): Promise<void> {
  const [model] = subject.possible;
  if (!model || subject.possible.length > 1 || model.keepUntil === 0 || behaviourOf(model.token).ended) return;
  const identifiers = [subject.identifier, ...(await renewalsOf(world, subject))];
  const index = model.chain.length - 1 - (pick % Math.min(2, model.chain.length));
  const [identifier = assert.fail(), authorization = assert.fail()] = [identifiers[index], model.chain[index]];
  const isApproved = world.oracleOf(subject).find(identifier)?.answer === Answer.APPROVED;
  const isScheduled = authorization.endsEarlyAt > 0 || authorization.endedThere !== undefined;
  if (!isApproved || isScheduled) return;
  authorization.endsEarlyAt = world.now() + 1;
  const event = [`ended-${identifier}`, identifier, authorization.endsEarlyAt, authorization.endsEarlyAt];
  inLedger(world, subject, (ledger) =>
    ledger
      .prepare(`insert into event (eventId, kind, requestId, stage, occurredAtMs, dueAtMs, attempts)
        values (?, 'authorizationEnded', ?, 0, ?, ?, 0)`)
      .run(...event),
  );
  subject.story.push(`end authorization ${index} there`);
  world.faults.happened('ended there');
}

/** The processor contradicts itself: its first result stays, and the hold is frozen. */
export async function contradict(world: World, subject: Subject, command: Command): Promise<void> {
  const [model] = subject.possible;
  if (!model || subject.possible.length > 1 || model.placing !== 'OK') return;
  // That a capture was done after all leaves the hold to an operator: test/torture/liar.ts plays that.
  const final = model.attempts.filter(
    ({ kind, state, key, amount }) =>
      state !== 'OPEN' && key !== '' && amount > 0 && !(kind === 'CAPTURE' && state === 'KO'),
  );
  const attempt = final[command.pick % (final.length + 1)];
  // That a refund was not done after all is no contradiction: it came back.
  if (attempt?.kind === 'REFUND' && attempt.state === 'OK') return returnRefund(world, subject, attempt);
  const key = attempt?.key ?? subject.key;
  await tellOther(world, subject, (await named(world, subject, key)).identifier, attempt?.state === 'KO' ? 1 : 2);
  subject.story.push(`contradict ${key}`);
  model.frozen = true;
}

/** The processor takes the placing of a hold back, which freezes it. */
export function contradictPlacing(world: World, subject: Subject): Promise<void> {
  return tellOther(world, subject, subject.identifier, 2);
}

async function tellOther(world: World, subject: Subject, requestId: string, answer: 1 | 2): Promise<void> {
  const value = { requestId, result: { answer, errorCode: answer === 2 ? 'changed_its_mind' : '' } };
  await world.tell(subject, {
    eventId: `contradiction-${randomUUID()}`,
    occurredAt: timestampNow(),
    event: { case: 'operationSettled', value },
  });
  world.faults.happened('contradicting event');
}
