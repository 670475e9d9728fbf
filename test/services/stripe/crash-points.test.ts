import assert from 'node:assert/strict';
import { Answer, Finding } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { CRASH_POINTS, type CrashPoint } from '../../../services/stripe/crash-points.ts';
import { forSuite } from '../../suite.ts';
import { completeSession } from './fake/sessions.ts';
import {
  booksAgree,
  captureRequest,
  checkoutRequest,
  type Hold,
  holdRequest,
  incrementRequest,
  refundRequest,
  startFixture,
  voidRequest,
} from './fixture.ts';

interface Story {
  readonly hold: Hold;
  /** The identifier of the operation in progress when the adapter dies. */
  readonly requestId: string;
  act(): Promise<unknown>;
}

describe('an adapter that dies', () => {
  const fixture = forSuite(startFixture);

  const stories = {
    async authorization() {
      const hold = holdRequest();
      return { hold, requestId: hold.requestId, act: () => fixture.client.authorize(hold) };
    },
    async capture() {
      const hold = await fixture.placed();
      const request = captureRequest(hold, 4_000n);
      return { hold, requestId: request.requestId, act: () => fixture.client.capture(request) };
    },
    async void() {
      const hold = await fixture.placed();
      const request = voidRequest(hold);
      return { hold, requestId: request.requestId, act: () => fixture.client.void(request) };
    },
    async increment() {
      const hold = await fixture.placed();
      const request = incrementRequest(hold, 500n);
      return { hold, requestId: request.requestId, act: () => fixture.client.incrementAuthorization(request) };
    },
    async refund() {
      const hold = await fixture.placed();
      const capture = captureRequest(hold);
      await fixture.client.capture(capture);
      const request = refundRequest(hold, capture, 500n);
      return { hold, requestId: request.requestId, act: () => fixture.client.refund(request) };
    },
    async checkout() {
      const hold = checkoutRequest();
      return { hold, requestId: hold.requestId, act: () => fixture.client.createCheckout(hold) };
    },
    async fence() {
      const hold = holdRequest();
      fixture.dieAt = 'intent stored';
      await assert.rejects(fixture.client.authorize(hold));
      fixture.dieAt = undefined;
      const { requestId } = hold;
      return { hold, requestId, act: () => fixture.client.inquire({ requestId, fence: true }) };
    },
  } satisfies Record<string, () => Promise<Story>>;

  const STORIES: Readonly<Record<CrashPoint, keyof typeof stories>> = {
    'authorization stored': 'authorization',
    'intent created': 'authorization',
    'intent stored': 'authorization',
    'confirmation answered': 'authorization',
    'checkout stored': 'checkout',
    'session created': 'checkout',
    'capture stored': 'capture',
    'capture answered': 'capture',
    'void stored': 'void',
    'void answered': 'void',
    'increment stored': 'increment',
    'increment answered': 'increment',
    'refund stored': 'refund',
    'refund answered': 'refund',
    'fence stored': 'fence',
    'fence answered': 'fence',
  };

  async function die(point: CrashPoint): Promise<Story> {
    const story = await stories[STORIES[point]]();
    fixture.dieAt = point;
    await assert.rejects(story.act());
    await fixture.restart();
    return story;
  }

  for (const point of CRASH_POINTS.filter((name) => STORIES[name] !== 'checkout')) {
    it(`at "${point}": an inquiry finds the result, once and for ever`, async () => {
      const { hold, requestId } = await die(point);
      const { finding, result } = await fixture.client.inquire({ requestId, fence: true });
      assert.equal(finding, Finding.DONE);
      await booksAgree(fixture, hold.requestId);
      assert.deepEqual((await fixture.client.inquire({ requestId, fence: true })).result, result);
      await fixture.deliverAll();
      await booksAgree(fixture, hold.requestId);
    });

    it(`at "${point}": the same call again is the same operation`, async () => {
      const { hold, act, requestId } = await die(point);
      await act();
      const { finding } = await fixture.client.inquire({ requestId });
      assert.equal(finding, Finding.DONE);
      await booksAgree(fixture, hold.requestId);
    });
  }

  for (const point of CRASH_POINTS.filter((name) => STORIES[name] === 'checkout')) {
    it(`at "${point}": the same call again opens the same page`, async () => {
      const { act, requestId } = await die(point);
      await act();
      const sessions = [...fixture.stripe.account().sessions.values()];
      const [session, ...more] = sessions.filter(({ client_reference_id: id }) => id === requestId);
      assert(session && more.length === 0);
      completeSession(fixture.stripe.account(), session.id, 'pm_card_visa');
      await fixture.deliverAll();
      assert.equal((await booksAgree(fixture, requestId)).answer, Answer.APPROVED);
    });

    it(`at "${point}": a page that nobody received expires in time`, async () => {
      const { requestId } = await die(point);
      assert.equal((await fixture.client.inquire({ requestId, fence: true })).finding, Finding.AT_WORK);
      fixture.advance(2 * 60 * 60 * 1000);
      // Otherwise the adapter's own look at the page, which is due, may be under way.
      await fixture.adapter.lookAround();
      const { finding, result } = await fixture.client.inquire({ requestId, fence: true });
      assert.deepEqual([finding, result?.errorCode], [Finding.DONE, 'checkout_expired']);
    });
  }

  it('leaves a lease that expires by itself', async () => {
    const hold = await fixture.placed();
    const lease = `UPDATE stripe.entry SET lease_by = gen_random_uuid(), lease_until = now() + interval '1 s' WHERE
      request_id = $1`;
    await fixture.sql(lease, [hold.requestId]);
    const { result } = await fixture.client.capture(captureRequest(hold));
    assert.equal(result?.answer, Answer.APPROVED);
    await booksAgree(fixture, hold.requestId);
  });
});
