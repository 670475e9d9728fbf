/** Holds that wait for their customer, at a processor whose answers are late, lost or wrong. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  Answer,
  type AuthorizeRequest,
  Finding,
  ResultSchema,
} from '../../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { ThreeDSecure } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { accepted, approved, atWork, declined, done, notPerformed } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { sql } from '../../shop.ts';
import { refusal } from '../../stage.ts';

const RETURN = { customerPresent: true, returnUrl: 'https://shop.example/done' };
const HALF_AN_HOUR_MS = 1_800_000;

describe('step-up at a processor that answers otherwise', () => {
  const { scripted, shop, processor } = useScriptedStage();
  const url = 'https://bank.example/1';
  const place = () => shop.place(RETURN);
  const waits = (more: object = {}) => {
    const answer = accepted(scripted.stage.clock.now(), HALF_AN_HOUR_MS);
    return create(ResultSchema, { ...answer, nextAction: { url, ...more } } as MessageInitShape<typeof ResultSchema>);
  };
  const later = async (byMs = HALF_AN_HOUR_MS) => {
    scripted.stage.clock.advance(byMs);
    await scripted.stage.expire();
  };
  /** Restarts the processor, and lets core ask it what it is. */
  const reconnect = async () => {
    await processor.restart();
    while ((await shop.place()).state !== OperationState.OK);
  };
  const waiting = async (more?: object) => {
    processor.says.authorize = () => waits(more);
    return (await place()).preauthorization ?? assert.fail();
  };

  it('is told where the customer comes back, how long it may take, and what the merchant wants', async () => {
    const heard: AuthorizeRequest[] = [];
    processor.says.authorize = (request) => {
      heard.push(request);
      return waits();
    };
    await shop.place({ ...RETURN, threeDSecure: ThreeDSecure.CHALLENGE });
    const [request = assert.fail()] = heard;
    assert.deepEqual([request.returnUrl, request.threeDSecure], [RETURN.returnUrl, 1]);
    assert.equal(Number(request.actionExpiresAt?.seconds) * 1_000, scripted.stage.clock.now() + HALF_AN_HOUR_MS);
  });

  it('keeps no page longer open than a day after what was asked', async () => {
    const now = scripted.stage.clock.now();
    const until = async (ms: number) => (await waiting({ expiresAt: timestampFromMs(now + ms) })).nextAction?.expiresAt;
    assert.equal(Number((await until(60_000))?.seconds) * 1_000, now + 60_000);
    const most = HALF_AN_HOUR_MS + 86_400_000;
    assert.equal(Number((await until(10 * 86_400_000))?.seconds) * 1_000, now + most);
    const expiresAt = timestampFromMs(now + 10 * 86_400_000);
    processor.says.createCheckout = () => ({ checkoutUrl: url, expiresAt });
    const { preauthorization } = await shop.checkout();
    assert.equal(Number(preauthorization?.checkoutExpiresAt?.seconds) * 1_000, now + most);
  });

  it('learns the page by an inquiry after a lost answer, then the result', async () => {
    processor.says.authorize = () => undefined;
    const { preauthorization: hold = assert.fail(), state } = await place();
    assert.equal(state, OperationState.UNKNOWN);
    processor.says.inquire = () => ({ finding: Finding.AT_WORK, result: waits() });
    await scripted.inquireLater();
    assert.equal((await shop.get(hold)).nextAction?.url, url);
    processor.says.inquire = () => atWork;
    await scripted.inquireLater(60_000);
    assert.equal(await shop.books(hold), 'IN_PROGRESS AWAITING_CUSTOMER 0/0/0/0/0');
    await scripted.settled(hold.requestId, approved);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('believes a page under a key only when the processor confirms that it is of this call', async () => {
    const keyed = () => shop.place({ ...RETURN, idempotencyKey: randomUUID() });
    processor.says.inquire = () => ({ finding: Finding.AT_WORK, result: waits() });
    processor.says.authorize = () => undefined;
    const [own, others] = [(await keyed()).preauthorization, (await keyed()).preauthorization];
    assert(own && others);
    const identifier = processor.heard.at(-1)?.requestId;
    processor.says.authorize = ({ requestId }) =>
      requestId === identifier ? notPerformed('identifier_reused') : waits();
    await scripted.inquireLater();
    assert.equal((await shop.get(own)).nextAction?.url, url);
    assert.equal((await shop.get(others)).processorError?.code, 'identifier_reused');
  });

  it('voids what is approved after its end', async () => {
    const hold = await waiting();
    processor.says.inquire = () => ({ finding: Finding.AT_WORK, result: waits() });
    await later();
    assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0');
    processor.heard.length = 0;
    await scripted.settled(hold.requestId, approved);
    await scripted.inquireLater();
    assert.deepEqual(
      processor.heard.map(({ method, authorizationRequestId }) => [method, authorizationRequestId]),
      [['void', hold.requestId]],
    );
    assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0');
  });

  it('stays while its void is refused, and is placed when it was approved after all', async () => {
    const hold = await waiting();
    processor.says.void = () => notPerformed('authorization_not_ended');
    const { requestId } = await shop.release(hold).catch(() => ({ requestId: '' }));
    assert.equal(requestId, '');
    assert.match(await shop.books(hold), /AWAITING_CUSTOMER/);
    await scripted.settled(hold.requestId, approved);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('is given up at its end, however long the processor expects to be at work', async () => {
    const hold = await waiting();
    const late = accepted(scripted.stage.clock.now(), 24 * HALF_AN_HOUR_MS);
    processor.says.inquire = () => ({ finding: Finding.AT_WORK, result: late });
    // As after a restore, all pages are looked at.
    await sql(scripted.stage, 'update hold set inquire_at = created_at where request_id = $1', [hold.requestId]);
    await scripted.stage.inquire();
    await later();
    assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0');
  });

  it('ends by the result that comes while the page is open', async () => {
    const hold = await waiting();
    processor.says.inquire = () => done(declined);
    await later();
    assert.equal((await shop.get(hold)).processorError?.code, 'no');
  });

  for (const [what, says] of Object.entries({
    'not asked for': () => shop.place({ customerPresent: true }),
    'that is not https': () => {
      processor.says.authorize = () => waits({ url: 'http://bank.example/1' });
      return place();
    },
    'of an approval': () => {
      processor.says.authorize = () => create(ResultSchema, { ...waits(), answer: Answer.APPROVED });
      return place();
    },
  })) {
    it(`believes no page ${what}`, async () => {
      processor.says.authorize = () => waits();
      processor.says.inquire = () => atWork;
      const { preauthorization, state } = await says();
      assert.equal(state, OperationState.UNKNOWN);
      const hold = preauthorization ?? assert.fail();
      processor.says.inquire = () => ({ finding: Finding.AT_WORK, result: waits() });
      await scripted.inquireLater();
      if (what === 'not asked for') assert.equal(await shop.books(hold), 'IN_PROGRESS UNKNOWN 0/0/0/0/0');
    });
  }

  it('refuses a returnUrl where the processor cannot send the customer anywhere', async () => {
    processor.is.stepUp = false;
    await reconnect();
    processor.heard.length = 0;
    const { reason, violations } = await refusal(place());
    assert.deepEqual([reason, Object.keys(violations)], ['INVALID_REQUEST', ['return_url']]);
    assert.deepEqual(processor.heard, []);
    processor.is.stepUp = true;
    await reconnect();
    assert.equal((await waiting()).nextAction?.url, url);
  });

  it('has no answer of a processor that accepts without a page', async () => {
    processor.says.authorize = () => ({ answer: Answer.ACCEPTED });
    assert.equal((await place()).state, OperationState.UNKNOWN);
  });
});
