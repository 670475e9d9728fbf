import assert from 'node:assert/strict';
import { forEachTest } from '../../suite.ts';
import { pay } from './checkout/browse.ts';
import { captureRequest, checkoutRequest, holdRequest, PROCESSOR_TOKEN, startFixture } from './fixture.ts';

describe('openReporter()', () => {
  const fixture = forEachTest(startFixture);

  /** Creates an event that is due at once. */
  async function reverse(): Promise<string> {
    const hold = holdRequest('tok_sandbox_reversed');
    await fixture.client.authorize(hold);
    const capture = captureRequest(hold);
    await fixture.client.capture(capture);
    fixture.clock.advance(2_000);
    await fixture.sandbox.reportDue();
    return capture.requestId;
  }

  it('sends its token to core, and reports once what core accepted', async () => {
    await reverse();
    assert.deepEqual([...fixture.core.tokens], [`Bearer ${PROCESSOR_TOKEN}`]);
    fixture.clock.advance(3_600_000);
    await fixture.sandbox.reportDue();
    await fixture.restart();
    await fixture.sandbox.reportDue();
    assert.equal(fixture.core.received.length, 1);
  });

  it('retries, at growing intervals, until core answers', async () => {
    fixture.core.answer = 'refuse';
    const captureRequestId = await reverse();
    for (const [attempt, backoffMs] of [200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 30_000].entries()) {
      const before = fixture.core.received.length;
      fixture.clock.advance(backoffMs - 1);
      await fixture.sandbox.reportDue();
      assert.equal(fixture.core.received.length, before, `attempt ${attempt + 2} came too early`);
      fixture.clock.advance(1);
      await fixture.sandbox.reportDue();
      assert.equal(fixture.core.received.length, before + 1);
    }
    fixture.core.answer = 'accept';
    fixture.clock.advance(30_000);
    await fixture.sandbox.reportDue();
    assert.equal(new Set(fixture.core.received.map(({ eventId }) => eventId)).size, 1);
    const [event] = fixture.oracle((oracle) => oracle.events());
    assert.equal(event?.requestId, captureRequestId);
    assert.equal(event.reportedAtMs, fixture.clock.now());
    assert.equal(
      fixture.oracle((oracle) => oracle.find(captureRequestId)?.reversed),
      10_000,
      'reversed once',
    );
  });

  it('reports after a restart what it could not report before', async () => {
    fixture.core.answer = 'hang';
    const { checkoutUrl } = await fixture.client.createCheckout(checkoutRequest());
    const tried = fixture.core.next();
    const paying = pay(checkoutUrl);
    await tried;
    fixture.clock.advance(2_000);
    await paying;
    await fixture.restart();
    fixture.core.answer = 'accept';
    fixture.clock.advance(10_000);
    await fixture.sandbox.reportDue();
    const [first, ...more] = fixture.core.received;
    assert.ok(more.length >= 1);
    for (const event of more) assert.deepEqual(event, first);
    assert.ok(fixture.oracle((oracle) => oracle.events()).every(({ reportedAtMs }) => reportedAtMs !== null));
  });

  it('reports by itself when an event is due', async () => {
    fixture.core.answer = 'refuse';
    await reverse();
    fixture.core.answer = 'accept';
    const heard = fixture.core.next();
    fixture.clock.advance(200);
    await heard;
  });
});
