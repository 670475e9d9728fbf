import assert from 'node:assert/strict';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import { Answer, Finding, ThreeDSecure } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { confirm, entryOf } from '../checkout/browse.ts';
import { captureRequest, holdRequest, startFixture } from '../fixture.ts';

const RETURN_URL = 'https://shop.example/done?basket=1';
const MINUTE_MS = 60_000;

describe('authorize() with a return URL', () => {
  const fixture = forSuite(startFixture);
  const asked = (tokenId: string, more: object = {}) => ({ ...holdRequest(tokenId), returnUrl: RETURN_URL, ...more });
  const waiting = async (tokenId = 'tok_sandbox_challenge', more: object = {}) => {
    const request = asked(tokenId, more);
    const { result = assert.fail() } = await fixture.client.authorize(request);
    assert.equal(result.answer, Answer.ACCEPTED);
    const { nextAction = assert.fail() } = result;
    return { request, result, nextAction, url: nextAction.url };
  };
  const inquire = ({ requestId }: { requestId: string }) => fixture.client.inquire({ requestId, fence: true });
  const voidOf = ({ requestId: authorizationRequestId }: { requestId: string }) =>
    fixture.client.void({ requestId: uuidv7(), authorizationRequestId });
  const eventOf = ({ requestId }: { requestId: string }) =>
    fixture.core.received.filter(({ eventId }) => eventId === `settled-${requestId}`);

  it('waits for the customer when the issuer asks, and says so again', async () => {
    const { request, result, nextAction } = await waiting();
    assert.equal(timestampMs(nextAction.expiresAt ?? assert.fail()), fixture.clock.now() + 30 * MINUTE_MS);
    assert.deepEqual((await fixture.client.authorize(request)).result, result);
    assert.deepEqual(await inquire(request).then(({ finding, result }) => [finding, result]), [
      Finding.AT_WORK,
      result,
    ]);
    assert.equal(entryOf(fixture, request.requestId).answer, Answer.ACCEPTED);
  });

  it('asks every card with challenge, and only some otherwise', async () => {
    await waiting('tok_sandbox_ok', { threeDSecure: ThreeDSecure.CHALLENGE });
    const { result } = await fixture.client.authorize(asked('tok_sandbox_ok'));
    assert.deepEqual([result?.answer, result?.nextAction], [Answer.APPROVED, undefined]);
  });

  it('is declined when the customer can be sent nowhere', async () => {
    for (const request of [
      holdRequest('tok_sandbox_challenge'),
      { ...holdRequest(), threeDSecure: ThreeDSecure.CHALLENGE },
    ]) {
      const { result } = await fixture.client.authorize(request);
      assert.deepEqual([result?.answer, result?.errorCode], [Answer.DECLINED, 'authentication_required']);
    }
  });

  it('is approved once the customer has confirmed, reported, and captured', async () => {
    const { request, url } = await waiting();
    const way = await confirm(url, 'pass');
    assert.equal(way.headers.get('location'), `${RETURN_URL}&requestId=${request.requestId}`);
    const { finding, result } = await inquire(request);
    assert.deepEqual(
      [finding, result?.answer, result?.card?.threeDSecure],
      [Finding.DONE, Answer.APPROVED, 'authenticated'],
    );
    assert.equal(eventOf(request).length, 1);
    const { result: captured } = await fixture.client.capture(captureRequest(request));
    assert.equal(captured?.answer, Answer.APPROVED);
    assert.match(await (await fetch(url)).text(), /Reserved/);
  });

  for (const [tokenId, action] of [
    ['tok_sandbox_challenge', 'fail'],
    ['tok_sandbox_challenge_failed', 'pass'],
  ] as const) {
    it(`is declined when the customer was not authenticated: ${tokenId}`, async () => {
      const { request, url } = await waiting(tokenId);
      await confirm(url, action);
      const { result } = await inquire(request);
      assert.deepEqual([result?.answer, result?.errorCode], [Answer.DECLINED, 'authentication_failed']);
      assert.equal(eventOf(request).length, 1);
      assert.match(await (await fetch(url)).text(), /not confirmed with your bank/);
    });
  }

  it('ends as the card does once the customer has confirmed', async () => {
    const challenge = { threeDSecure: ThreeDSecure.CHALLENGE };
    const refused = await waiting('tok_sandbox_insufficient_funds', challenge);
    await confirm(refused.url, 'pass');
    assert.equal((await inquire(refused.request)).result?.errorCode, 'insufficient_funds');
    const later = await waiting('tok_sandbox_accepted', challenge);
    await confirm(later.url, 'pass');
    const { finding, result } = await inquire(later.request);
    assert.deepEqual([finding, result?.nextAction], [Finding.AT_WORK, undefined]);
    await fixture.clock.advance(2_000);
    await fixture.sandbox.reportDue();
    assert.equal((await inquire(later.request)).result?.answer, Answer.APPROVED);
  });

  it('reports nothing for tok_sandbox_challenge_lost', async () => {
    const { request, url } = await waiting('tok_sandbox_challenge_lost');
    await confirm(url, 'pass');
    assert.equal((await inquire(request)).result?.answer, Answer.APPROVED);
    assert.deepEqual(eventOf(request), []);
  });

  it('expires at its time', async () => {
    const until = { actionExpiresAt: timestampFromMs(fixture.clock.now() + MINUTE_MS) };
    const { request, url } = await waiting('tok_sandbox_challenge', until);
    await fixture.clock.advance(MINUTE_MS);
    assert.equal((await fetch(url)).status, 410);
    await confirm(url, 'pass');
    const { result } = await fixture.client.authorize(request);
    assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'authentication_expired']);
    assert.deepEqual((await inquire(request)).result, result);
    assert.equal((await voidOf(request)).result?.answer, Answer.APPROVED);
  });

  it('is closed by a void', async () => {
    const { request, url } = await waiting();
    assert.equal((await voidOf(request)).result?.answer, Answer.APPROVED);
    const { result } = await inquire(request);
    assert.deepEqual([result?.answer, result?.errorCode], [Answer.NOT_PERFORMED, 'authentication_cancelled']);
    assert.equal((await fetch(url)).status, 410);
    assert.equal((await voidOf(request)).result?.answer, Answer.APPROVED);
  });

  it('keeps its page over a restart, and gets another address with another credential', async () => {
    const { request, nextAction } = await waiting();
    await fixture.restart();
    const path = (url = '') => new URL(url).pathname;
    const again = async () => path((await fixture.client.authorize(request)).result?.nextAction?.url);
    assert.equal(await again(), path(nextAction.url));
    await fixture.restart('another-credential-that-core-shows-since');
    assert.notEqual(await again(), path(nextAction.url));
    const { result } = await inquire(request);
    await confirm(result?.nextAction?.url ?? '', 'pass');
    assert.equal((await inquire(request)).result?.answer, Answer.APPROVED);
  });
});
