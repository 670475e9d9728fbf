import assert from 'node:assert/strict';
import { type Answer, EntryKind, Finding } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../suite.ts';
import { FAULTS, type Fault } from './fake/faults.ts';
import {
  booksAgree,
  captureRequest,
  type Hold,
  holdRequest,
  incrementRequest,
  inquiryOf,
  refundRequest,
  startFixture,
  voidRequest,
} from './fixture.ts';

/** An operation that a fault hits, and the merchant's second try after the first was said not to be done. */
interface Story {
  readonly hold: Hold;
  readonly requestId: string;
  readonly kind: EntryKind;
  act(): Promise<{ result?: { answer: Answer } | undefined }>;
}

const MANY = 99;
/** Long enough that only a planned fault makes a request of the other stories time out. */
const TIMEOUT_MS = 2_000;
/** What hangs is a request without an answer, as what is cut is: once is enough of what takes so long. */
const SHORT: readonly Fault[] = FAULTS.filter((fault) => !fault.startsWith('hang'));

describe("Stripe's faults", () => {
  const fixture = forSuite(() => startFixture(TIMEOUT_MS));

  const stories: Readonly<Record<string, { on: string; begin(): Promise<Story> }>> = {
    authorize: {
      on: 'POST /v1/payment_intents/…/confirm',
      async begin() {
        const hold = holdRequest();
        const { requestId } = hold;
        return { hold, requestId, kind: EntryKind.AUTHORIZATION, act: () => fixture.client.authorize(hold) };
      },
    },
    capture: {
      on: 'POST /v1/payment_intents/…/capture',
      async begin() {
        const hold = await fixture.placed();
        const request = captureRequest(hold, 4_000n);
        const { requestId } = request;
        return { hold, requestId, kind: EntryKind.CAPTURE, act: () => fixture.client.capture(request) };
      },
    },
    void: {
      on: 'POST /v1/payment_intents/…/cancel',
      async begin() {
        const hold = await fixture.placed();
        const request = voidRequest(hold);
        return {
          hold,
          requestId: request.requestId,
          kind: EntryKind.VOID,
          act: () => fixture.client.void(request),
        };
      },
    },
    'void of the rest': {
      on: 'POST /v1/payment_intents/…/capture',
      async begin() {
        const hold = await fixture.placed();
        await fixture.client.capture(captureRequest(hold, 1_000n));
        const request = voidRequest(hold);
        const { requestId } = request;
        return { hold, requestId, kind: EntryKind.VOID, act: () => fixture.client.void(request) };
      },
    },
    increment: {
      on: 'POST /v1/payment_intents/…/increment_authorization',
      async begin() {
        const hold = await fixture.placed();
        const request = incrementRequest(hold, 500n);
        const { requestId } = request;
        const act = () => fixture.client.incrementAuthorization(request);
        return { hold, requestId, kind: EntryKind.INCREMENT, act };
      },
    },
    refund: {
      on: 'POST /v1/refunds',
      async begin() {
        const hold = await fixture.placed();
        const capture = captureRequest(hold);
        await fixture.client.capture(capture);
        const request = refundRequest(hold, capture, 500n);
        const { requestId } = request;
        return { hold, requestId, kind: EntryKind.REFUND, act: () => fixture.client.refund(request) };
      },
    },
  };

  /** Lets faults happen to an operation, and looks whether all that is said of it is true, then and when Stripe is well again. */
  async function suffer(name: string, plan: readonly (readonly [Fault, number])[]): Promise<void> {
    const { on, begin } = stories[name] as NonNullable<(typeof stories)[string]>;
    const story = await begin();
    for (const [fault, times] of plan) fixture.stripe.fail(on, fault, times, story.requestId);
    const first = await story.act().catch(() => undefined);
    await fixture.stripe.idle();
    for (const planned of fixture.stripe.faults) if (planned.key === story.requestId) planned.times = 0;
    const inquiry = inquiryOf(story.hold, story.requestId, story.kind);
    const { finding, result } = await fixture.client.inquire({ ...inquiry, fence: true });
    const what = `${name}: ${plan.map(([fault, times]) => `${fault} × ${times}`).join(', then ')}`;
    assert.equal(finding, Finding.DONE, what);
    if (first) assert.deepEqual(result?.answer, first.result?.answer, what);
    await booksAgree(fixture, story.hold.requestId);
  }

  async function sufferAll(name: string, plans: readonly (readonly (readonly [Fault, number])[])[]): Promise<void> {
    const waiting = [...plans];
    const work = async () => {
      for (let plan = waiting.pop(); plan; plan = waiting.pop()) await suffer(name, plan);
    };
    await Promise.all(Array.from({ length: 48 }, work));
  }

  for (const name of Object.keys(stories)) {
    it(`${name}: what is said of it is true after each fault, once and often`, async () => {
      await sufferAll(
        name,
        FAULTS.flatMap((fault) => [[[fault, 1] as const], [[fault, MANY] as const]]),
      );
    }).timeout(60_000);

    it(`${name}: what is said of it is true after each pair of faults`, async () => {
      const pairs = SHORT.flatMap((first) => SHORT.map((then) => [[first, 1] as const, [then, MANY] as const]));
      await sufferAll(name, pairs);
      fixture.stripe.faults.length = 0;
    }).timeout(180_000);
  }
});
