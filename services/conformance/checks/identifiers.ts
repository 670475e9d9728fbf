import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServiceError, status } from '@grpc/grpc-js';
import { drawId } from '../../../platform/draw-id.ts';
import { Answer, Finding } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { fencedStatus, isRefusal, told } from '../answer.ts';
import { type Check, can, ofEachKind, type Prepare } from '../check.ts';
import { isSupported, KINDS, type Kind, others } from '../kinds.ts';
import type { Kit } from '../kit.ts';
import type { Request } from '../requests.ts';

/** Calls at once, or rounds of what is a matter of luck. */
const AT_ONCE = 20;

/** What an identifier means: the same one acts once and is answered alike, whatever gets lost. */
export const IDENTIFIERS: readonly Check[] = ofEachKind([
  { name: 'repeated, the same answer', run: repeat },
  { name: `${AT_ONCE} times at once, done once`, run: sendAtOnce },
  { name: 'another request under its identifier, refused', run: misuse },
  { name: 'an inquiry says what its answer said', run: inquireAfterwards },
  { name: 'fenced, it never acts', skip: can('fences', 'the processor cannot fence'), run: fence },
  { name: 'fenced while it arrives, one of the two', run: race },
  { name: 'broken off at any moment', run: breakOff },
  { name: 'its answer lost', way: 'answerLost', run: loseAnswer },
  { name: 'its request lost', way: 'requestLost', run: loseRequest },
]);

async function repeat(kit: Kit, prepare: Prepare): Promise<void> {
  const request = await prepare();
  const first = await kit.settled(request);
  // A core of before may not say the reference of the authorization.
  for (const repetition of [request, { ...request, authorizationReference: '' }, request]) {
    assert.deepEqual(await kit.send(repetition), first, 'the answer to a repeated request');
  }
  // Core may call it otherwise by then. The books keep the first name.
  const renamed = { ...request, operationRequestId: drawId() };
  assert.deepEqual(await kit.ask(renamed), first, 'the answer to a repeated request with another name');
  await kit.demandBooks(request);
}

async function sendAtOnce(kit: Kit, prepare: Prepare): Promise<void> {
  const request = await prepare();
  const calls = Array.from({ length: AT_ONCE }, () => kit.send(request));
  const ended = await Promise.allSettled(calls);
  const answers = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  // Some may be told to come again, but not that it is refused; what is answered is answered alike.
  const codes = ended.flatMap((one) => (one.status === 'rejected' ? [(one.reason as ServiceError).code] : []));
  const refused = codes.filter((code) => REFUSALS.includes(code)).map((code) => status[code]);
  assert.deepEqual(refused, [], 'statuses that refuse what was done');
  const last = await kit.settled(request);
  const final = answers.filter(({ answer }) => answer !== Answer.ACCEPTED);
  for (const answer of final) assert.deepEqual(answer, last, 'two answers under one identifier');
  await kit.demandBooks(request);
}

/** Statuses that say that a request was not done, and never will be. */
const REFUSALS = [status.INVALID_ARGUMENT, status.ALREADY_EXISTS, status.FAILED_PRECONDITION, status.UNIMPLEMENTED];

async function misuse(kit: Kit, prepare: Prepare, kind: Kind): Promise<void> {
  const request = await prepare();
  const first = await kit.settled(request);
  for (const [what, other] of await others(kit, request)) {
    await refusedAsReused(kit, other, what);
  }
  const another = KINDS.find((one) => one !== kind && one.name !== 'credit' && isSupported(one, kit)) ?? kind;
  const misused = { ...(await another.prepare(kit)), requestId: request.requestId };
  await refusedAsReused(kit, misused, `another kind (${another.name})`);
  assert.deepEqual(await kit.send(request), first, 'the answer afterwards');
  await kit.demandBooks(request);
  await kit.demandBooks(misused);
}

async function refusedAsReused(kit: Kit, request: Request, what: string): Promise<void> {
  await kit.refused(request, what, ['identifier_reused'], status.ALREADY_EXISTS);
}

async function inquireAfterwards(kit: Kit, prepare: Prepare): Promise<void> {
  const request = await prepare();
  const answered = await kit.settled(request);
  for (const fence of [false, true]) {
    const { finding, result, fenced } = await kit.inquire(request, fence);
    assert.deepEqual([Finding[finding], fenced], ['DONE', false]);
    assert.deepEqual(result, answered, 'the result of an inquiry');
  }
  assert.deepEqual(await kit.send(request), answered, 'the answer after an inquiry');
}

async function fence(kit: Kit, prepare: Prepare): Promise<void> {
  const request = await prepare();
  const free = await kit.inquire(request, false);
  assert.deepEqual([Finding[free.finding], free.fenced], ['NEVER_SEEN', false], 'an inquiry that does not fence');
  for (let round = 0; round < 2; round += 1) {
    const { finding, fenced } = await kit.inquire(request);
    assert.deepEqual([Finding[finding], fenced], ['NEVER_SEEN', true], 'an inquiry that fences');
    await kit.refusedAsFenced(request);
  }
  await sleep(50);
  const { requestId, authorizationRequestId = '' } = request;
  const late = (await kit.list({ authorizationRequestId })).find((entry) => entry.requestId === requestId);
  assert.notEqual(late?.answer, Answer.APPROVED, 'the books show that it was done all the same');
  await kit.demandBooks(request);
  const looked = await prepare();
  await kit.inquire(looked, false);
  assert.equal(told(await kit.settled(looked)), 'APPROVED', 'the answer after an inquiry that does not fence');
}

/** A request and the inquiry that fences it arrive together: either it was done, or it never is. */
async function race(kit: Kit, prepare: Prepare): Promise<void> {
  const race = async () => {
    const request = await prepare();
    const asking = kit.ask(request).catch(fencedStatus);
    const [result, inquiry] = await Promise.all([asking, kit.inquire(request)]);
    if (inquiry.finding === Finding.NEVER_SEEN && inquiry.fenced) {
      assert(isRefusal(result), `it was answered ${result && told(result)} and fenced`);
      await kit.refusedAsFenced(request);
    } else {
      await kit.findOut(request);
      const again = await kit.settled(request);
      const isFinal = result && result.answer !== Answer.ACCEPTED;
      if (isFinal) assert.deepEqual(again, result, 'the answer to a repeated request');
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, race));
}

/** The kit hangs up while a call is under way, and finds out as core would. */
async function breakOff(kit: Kit, prepare: Prepare): Promise<void> {
  const requests = await Promise.all(Array.from({ length: AT_ONCE }, () => prepare()));
  const settle = async (request: Request, round: number) => {
    const answer = await kit.askOnce(request, 1 + round).catch(() => undefined);
    await kit.demandSettled(request, answer);
  };
  await Promise.all(requests.map(settle));
}

async function loseAnswer(kit: Kit, prepare: Prepare, kind: Kind, tries = 1): Promise<void> {
  const request = await prepare();
  const silence = await demandSilence(kit, request);
  const { finding, result } = await kit.inquire(request);
  // An adapter that was UNAVAILABLE may have done nothing, so no answer was lost.
  const isLost = silence !== status.UNAVAILABLE || finding !== Finding.NEVER_SEEN;
  if (!isLost && tries < MOST_TRIES) return loseAnswer(kit, prepare, kind, tries + 1);
  assert.equal(Finding[finding], 'DONE', 'what was done, though its answer was lost');
  assert.deepEqual(await kit.send(request), result, 'the answer to a repeated request');
  await kit.demandBooks(request);
}

async function loseRequest(kit: Kit, prepare: Prepare): Promise<void> {
  const request = await prepare();
  await demandSilence(kit, request);
  const { finding, fenced } = await kit.inquire(request);
  assert.deepEqual([Finding[finding], fenced], ['NEVER_SEEN', kit.description.fences]);
  if (fenced) await kit.refusedAsFenced(request);
  await kit.demandBooks(request);
}

const MOST_TRIES = 5;

/** Returns the status in place of an answer. */
async function demandSilence(kit: Kit, request: Request): Promise<status | undefined> {
  let silence: status | undefined;
  const heard = await kit.askOnce(request, kit.profile.lostAnswerMs).catch(({ code }: ServiceError) => {
    silence = code;
  });
  assert.equal(heard && told(heard), undefined, 'the token says that no answer comes');
  return silence;
}
