import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import { Answer, Finding, ThreeDSecure } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { answerAction } from '../fake/step-up.ts';
import { booksAgree, captureRequest, holdRequest, intentOf, startFixture } from '../fixture.ts';

const RETURN_URL = 'https://shop.example/done';
const HALF_AN_HOUR_MS = 30 * 60_000;

describe('authorize() with a return URL', () => {
  const fixture = forSuite(startFixture);
  const asked = (token = 'pm_card_authenticationRequired', more: object = {}) => {
    const actionExpiresAt = timestampFromMs(fixture.stripe.now() * 1000 + HALF_AN_HOUR_MS);
    return { ...holdRequest(token), customerPresent: true, returnUrl: RETURN_URL, actionExpiresAt, ...more };
  };
  const waiting = async (token?: string, more?: object) => {
    const request = asked(token, more);
    const { result } = await fixture.client.authorize(request);
    assert.deepEqual([result?.answer, result?.nextAction?.url.startsWith('https://hooks')], [Answer.ACCEPTED, true]);
    return { request, result, intent: intentOf(fixture, request.requestId) };
  };
  const inquire = ({ requestId }: { requestId: string }) => fixture.client.inquire({ requestId, fence: true });
  const voidOf = ({ requestId: authorizationRequestId }: { requestId: string }) =>
    fixture.client.void({ requestId: uuidv7(), authorizationRequestId });
  const eventsOf = ({ requestId }: { requestId: string }) =>
    fixture.core.received.flatMap(({ event }) =>
      event.case === 'operationSettled' && event.value.requestId === requestId ? [event.value.result] : [],
    );
  const answer = (id: string, isAuthenticated: boolean) => answerAction(fixture.stripe.account(), id, isAuthenticated);

  it('waits for the customer, says so again, and does nothing twice', async () => {
    const { request, result, intent } = await waiting();
    const confirmed = fixture.stripe.requests.filter(({ request: name }) => /confirm/.test(name)).at(-1);
    assert.equal(confirmed?.form.return_url, `${RETURN_URL}?requestId=${request.requestId}`);
    assert.deepEqual((await fixture.client.authorize(request)).result, result);
    const { finding, result: said } = await inquire(request);
    assert.deepEqual([finding, said], [Finding.AT_WORK, result]);
    assert.equal(intent.status, 'requires_action');
  });

  it('asks Stripe for a challenge when the merchant does', async () => {
    const { intent } = await waiting('pm_card_visa', { threeDSecure: ThreeDSecure.CHALLENGE });
    assert.equal(intent.status, 'requires_action');
  });

  it('is approved once the customer has come back, as a webhook or a look says', async () => {
    for (const learn of [() => fixture.deliverAll(), () => fixture.adapter.lookAround()]) {
      const { request, intent } = await waiting();
      answer(intent.id, true);
      fixture.advance(10_000);
      await learn();
      await fixture.adapter.reportDue();
      const { finding, result } = await inquire(request);
      assert.deepEqual(
        [finding, result?.answer, result?.card?.threeDSecure],
        [Finding.DONE, Answer.APPROVED, 'authenticated'],
      );
      assert.deepEqual(eventsOf(request), [result]);
      assert.equal((await fixture.client.capture(captureRequest(request))).result?.answer, Answer.APPROVED);
      await booksAgree(fixture, request.requestId);
    }
  });

  it('is declined when the customer fails, and cancelled at Stripe, so that no other card is tried', async () => {
    const { request, intent } = await waiting();
    answer(intent.id, false);
    await fixture.deliverAll();
    const { result } = await inquire(request);
    assert.deepEqual([result?.answer, result?.errorCode], [Answer.DECLINED, 'authentication_failed']);
    assert.equal(intent.status, 'canceled');
    assert.deepEqual(eventsOf(request), [result]);
  });

  it('is cancelled when its time is over', async () => {
    const { request, intent } = await waiting();
    fixture.advance(HALF_AN_HOUR_MS + 1_000);
    await fixture.adapter.lookAround();
    await fixture.adapter.reportDue();
    const { result } = await inquire(request);
    assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'authentication_expired']);
    assert.equal(intent.status, 'canceled');
    assert.deepEqual(eventsOf(request), [result]);
    assert.equal((await voidOf(request)).result?.answer, Answer.APPROVED);
  });

  it('is cancelled by a void, unless the customer was first: then that is given back', async () => {
    const open = await waiting();
    assert.equal((await voidOf(open.request)).result?.answer, Answer.APPROVED);
    assert.equal((await inquire(open.request)).result?.errorCode, 'authentication_cancelled');
    assert.equal(open.intent.status, 'canceled');
    const late = await waiting();
    answer(late.intent.id, true);
    const { result } = await voidOf(late.request);
    assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 10_000n]);
    assert.equal(late.intent.status, 'canceled');
  });

  it('finds the page again after the answer was lost', async () => {
    const request = asked();
    fixture.stripe.fail('POST /v1/payment_intents/…/confirm', 'cut after', 99);
    await fixture.client.authorize(request).catch(() => undefined);
    fixture.stripe.faults.length = 0;
    const { finding, result } = await inquire(request);
    assert.deepEqual([finding, result?.nextAction !== undefined], [Finding.AT_WORK, true]);
  });

  it('is declined, and cancelled at Stripe, where the customer can be sent nowhere', async () => {
    for (const customerPresent of [true, false]) {
      const request = { ...holdRequest('pm_card_authenticationRequired'), customerPresent };
      const { result } = await fixture.client.authorize(request);
      assert.deepEqual([result?.answer, result?.errorCode], [Answer.DECLINED, 'authentication_required']);
      const { status } = intentOf(fixture, request.requestId);
      assert.notEqual(status, 'requires_action');
    }
  });
});
