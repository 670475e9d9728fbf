import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { isReturnUrl } from '../../../platform/return-url.ts';
import { Answer, Finding, type Result, ThreeDSecure } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { told } from '../answer.ts';
import { type Check, can, cannot, checkUnless, needs } from '../check.ts';
import type { Kit } from '../kit.ts';
import { capture, type Hold, voiding } from '../requests.ts';

const stepUps = (kit: Kit) =>
  can('stepUp', 'the processor cannot send a customer to its issuer')(kit) ?? needs('challenge')(kit);
const withCustomer = (kit: Kit) =>
  stepUps(kit) ?? (kit.profile.customer ? undefined : { why: 'the profile says not how the kit plays the customer' });

const HALF_AN_HOUR_MS = 30 * 60_000;
const SOON_MS = 2_000;
const RETURN_URL = 'https://conformance.example/done';

/** Authorizations that wait for their customer. */
export const STEP_UPS: readonly Check[] = [
  checkUnless(stepUps, 'step-up: asked again, the same page, at work until closed by a void', async (kit) => {
    const hold = asking(kit);
    const first = await waiting(kit, hold);
    const again = await kit.send({ ...hold, returnUrl: 'https://conformance.example/elsewhere' });
    assert.deepEqual(again, first, 'the answer to a repeated request');
    const other = asking(kit);
    const { nextAction } = await waiting(kit, other);
    assert.notEqual(nextAction?.url, first.nextAction?.url, 'the page of another authorization');
    await kit.approved(voiding(other));
    const atWork = await kit.inquire(hold);
    assert.deepEqual([Finding[atWork.finding], atWork.fenced], ['AT_WORK', false]);
    assert.deepEqual(atWork.result, first, 'the result of an inquiry about it');
    const { amountReleased } = await kit.approved(voiding(hold));
    assert.equal(amountReleased ?? 0n, 0n, 'nothing was reserved that could be given back');
    await demandEnd(kit, hold, 'NOT_PERFORMED authentication_cancelled');
  }),
  checkUnless(stepUps, 'step-up: over when its time is over', async (kit) => {
    const hold = { ...asking(kit), actionExpiresAt: timestampFromMs(Date.now() + SOON_MS) };
    await waiting(kit, hold);
    const patience = kit.patience();
    while ((await kit.inquire(hold)).finding === Finding.AT_WORK) {
      assert(await patience.wait(), 'it waits for its customer after its time');
    }
    await demandEnd(kit, hold, 'NOT_PERFORMED authentication_expired');
  }),
  checkUnless(stepUps, 'step-up: declined where the customer can be sent nowhere', async (kit) => {
    const hold = kit.authorization(kit.profile.tokens.challenge);
    assert.equal((await kit.send(hold)).nextAction, undefined, 'next_action of an authorization without return_url');
    const result = await kit.settled(hold);
    assert.equal(told(result), 'DECLINED authentication_required');
    assert.deepEqual(await kit.settled({ ...hold, returnUrl: RETURN_URL }), result, 'the answer to a repetition');
  }),
  checkUnless(withCustomer, 'step-up: approved when the customer confirms, and captured', async (kit) => {
    const hold = asking(kit);
    await play(kit, await waiting(kit, hold), 'confirm');
    await demandEnd(kit, hold, 'APPROVED');
    await kit.approved(capture(hold, kit.tenth));
  }),
  checkUnless(withCustomer, 'step-up: declined when the customer refuses', async (kit) => {
    const hold = asking(kit);
    await play(kit, await waiting(kit, hold), 'refuse');
    await demandEnd(kit, hold, 'DECLINED authentication_failed');
  }),
  checkUnless(withCustomer, 'step-up: any card, when it is asked for', async (kit) => {
    const hold = { ...asking(kit, kit.profile.tokens.approved), threeDSecure: ThreeDSecure.CHALLENGE };
    await play(kit, await waiting(kit, hold), 'confirm');
    await demandEnd(kit, hold, 'APPROVED');
  }),
  checkUnless(cannot('stepUp'), 'step-up: no page where Describe names none', async (kit) => {
    const hold = asking(kit, kit.profile.tokens.approved);
    assert.equal((await kit.approved(hold)).nextAction, undefined, 'next_action');
  }),
];

/** An authorization whose customer can be sent to its issuer. */
function asking(kit: Kit, token = kit.profile.tokens.challenge): Hold {
  const actionExpiresAt = timestampFromMs(Date.now() + HALF_AN_HOUR_MS);
  return { ...kit.authorization(token), customerPresent: true, returnUrl: RETURN_URL, actionExpiresAt };
}

/** Sends one that must wait for its customer. Returns its answer. */
async function waiting(kit: Kit, hold: Hold): Promise<Result> {
  const result = await kit.send(hold);
  assert.equal(Answer[result.answer], 'ACCEPTED', 'the answer while it waits for its customer');
  const { nextAction } = result;
  assert(nextAction, 'next_action is absent');
  assert(isReturnUrl(nextAction.url), 'the url of next_action is https, or http for loopback');
  const { actionExpiresAt } = hold;
  const isInTime =
    !nextAction.expiresAt ||
    !actionExpiresAt ||
    timestampMs(nextAction.expiresAt) <= timestampMs(actionExpiresAt) + 1_000;
  assert(isInTime, 'it closes when it was asked to');
  return result;
}

/** Demands how an authorization that waited has ended: by its inquiry, its repetition and its event alike. */
async function demandEnd(kit: Kit, hold: Hold, end: string): Promise<void> {
  const patience = kit.patience();
  let found = await kit.inquire(hold);
  while (found.finding === Finding.AT_WORK && (await patience.wait())) found = await kit.inquire(hold);
  const { finding, result } = found;
  assert.equal(Finding[finding], 'DONE', 'the finding about what waited for its customer');
  assert(result, 'an inquiry says DONE without a result');
  assert.equal(told(result), end, 'how it ended');
  assert.equal(result.nextAction, undefined, 'next_action of a final result');
  assert.deepEqual(await kit.send(hold), result, 'the answer to a repeated request, after the end');
  const { said } = await kit.reported('operationSettled', hold.requestId);
  assert.deepEqual(said.value.result, result, 'the result of the event OperationSettled');
}

/** Lets the profile's command play the customer on a page. */
async function play({ profile: { customer } }: Kit, { nextAction }: Result, does: 'confirm' | 'refuse'): Promise<void> {
  const [program = '', ...args] = customer?.command ?? [];
  await promisify(execFile)(program, [...args, nextAction?.url ?? '', does], { timeout: 60_000 });
}
