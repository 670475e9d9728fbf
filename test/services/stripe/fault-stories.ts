import assert from 'node:assert/strict';
import { type Answer, EntryKind, Finding } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Fault } from './fake/faults.ts';
import {
  booksAgree,
  captureRequest,
  type Fixture,
  type Hold,
  holdRequest,
  incrementRequest,
  inquiryOf,
  refundRequest,
  voidRequest,
} from './fixture.ts';

/** An operation that a fault hits, and the merchant's second try after the first was said not to be done. */
interface Story {
  readonly hold: Hold;
  readonly requestId: string;
  readonly kind: EntryKind;
  act(): Promise<{ result?: { answer: Answer } | undefined }>;
}

/** The operations that faults happen to. */
export const STORY_NAMES = ['authorize', 'capture', 'void', 'void of the rest', 'increment', 'refund'] as const;
type StoryName = (typeof STORY_NAMES)[number];

/** Faults of Stripe in their order, and how often each happens. */
export type Plan = readonly (readonly [Fault, number])[];

/** So many times that no patience outlasts it. */
export const MANY = 99;
/** Few enough for a busy machine to answer each in time. */
const AT_ONCE = 6;

/**
 * Returns a function that lets each plan of faults happen to an operation, and asserts that all that is said of it is
 * true.
 */
export function faultStories(fixture: Fixture): (name: StoryName, plans: readonly Plan[]) => Promise<void> {
  const stories: Readonly<Record<StoryName, { on: string; begin(): Promise<Story> }>> = {
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

  /**
   * Lets faults happen to an operation, and looks whether all that is said of it is true, then and when Stripe is well
   * again.
   */
  async function suffer(name: StoryName, plan: Plan): Promise<void> {
    const { on, begin } = stories[name];
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

  async function sufferAll(name: StoryName, plans: readonly Plan[]): Promise<void> {
    const waiting = [...plans];
    const work = async () => {
      for (let plan = waiting.pop(); plan; plan = waiting.pop()) await suffer(name, plan);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  return sufferAll;
}
