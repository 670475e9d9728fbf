import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { v7 as uuidv7 } from 'uuid';
import { AuthorizationEnd } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer, EntryKind } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forEachTest } from '../../suite.ts';
import { captureRequest, holdRequest, startFixture } from './fixture.ts';

describe('happen()', () => {
  const fixture = forEachTest(startFixture);

  async function captured(tokenId: string, amount = 701n) {
    const hold = holdRequest(tokenId);
    await fixture.client.authorize(hold);
    const capture = captureRequest(hold, amount);
    await fixture.client.capture(capture);
    return capture;
  }
  const turn = async (byMs = 2_000) => {
    fixture.clock.advance(byMs);
    await fixture.sandbox.reportDue();
  };
  const sums = (requestId: string) =>
    fixture.oracle((ledger) => {
      const { captured, voided, reversed } = ledger.find(requestId) ?? assert.fail();
      return { captured, voided, reversed };
    });
  const events = () => fixture.core.received.map(({ event }) => event);

  it('reverses half of a capture for tok_sandbox_reversed_in_part', async () => {
    const capture = await captured('tok_sandbox_reversed_in_part');
    await turn();
    const [event] = events();
    assert.ok(event?.case === 'captureReversed');
    assert.deepEqual([event.value.captureRequestId, event.value.amount], [capture.requestId, 350n]);
    assert.equal(sums(capture.requestId).reversed, 350);
    assert.equal(sums(capture.authorizationRequestId).reversed, 350);
  });

  it('names only the authorization for tok_sandbox_reversed_unattributed', async () => {
    const capture = await captured('tok_sandbox_reversed_unattributed');
    await turn();
    const [event] = events();
    assert.ok(event?.case === 'captureReversed');
    const { captureRequestId, authorizationRequestId, amount } = event.value;
    assert.deepEqual([captureRequestId, authorizationRequestId, amount], ['', capture.authorizationRequestId, 701n]);
    assert.equal(sums(capture.requestId).reversed, 0);
    assert.equal(sums(capture.authorizationRequestId).reversed, 701);
  });

  it('reinstates what it reversed for tok_sandbox_reversed_reinstated', async () => {
    const capture = await captured('tok_sandbox_reversed_reinstated');
    await turn();
    assert.equal(sums(capture.requestId).reversed, 701);
    await turn();
    const [reversed, reinstated] = fixture.core.received;
    assert.ok(reinstated?.event.case === 'captureReinstated');
    const { amount, captureRequestId, reversalEventId } = reinstated.event.value;
    assert.deepEqual([amount, captureRequestId, reversalEventId], [701n, capture.requestId, reversed?.eventId]);
    assert.equal(sums(capture.requestId).reversed, 0);
    assert.equal(sums(capture.authorizationRequestId).reversed, 0);
  });

  /** What the events say, oldest first. Each has an identifier and a reference of its own. */
  const told = () => {
    const names = new Set<string>();
    const said = fixture.core.received.map(({ eventId, event }) => {
      const { amount, reference } = event.value as { amount: bigint; reference: string };
      names.add(eventId).add(reference);
      return [event.case, Number(amount)];
    });
    assert.equal(names.size, 2 * said.length);
    return said;
  };

  it('reverses a capture in two parts for tok_sandbox_reversed_in_two_parts', async () => {
    const capture = await captured('tok_sandbox_reversed_in_two_parts');
    for (const [index, reversed] of [350, 701, 701].entries()) {
      await turn();
      assert.equal(sums(capture.requestId).reversed, reversed, `stage ${index}`);
      assert.equal(sums(capture.authorizationRequestId).reversed, reversed, `stage ${index}`);
    }
    assert.deepEqual(told(), [
      ['captureReversed', 350],
      ['captureReversed', 351],
    ]);
  });

  it('reverses a capture, reinstates it and reverses it again for tok_sandbox_reversed_again', async () => {
    const capture = await captured('tok_sandbox_reversed_again');
    for (const [index, reversed] of [701, 0, 701, 701].entries()) {
      await turn();
      assert.equal(sums(capture.requestId).reversed, reversed, `stage ${index}`);
    }
    assert.deepEqual(told(), [
      ['captureReversed', 701],
      ['captureReinstated', 701],
      ['captureReversed', 701],
    ]);
  });

  it('goes on to the next stage once core has the one before, also after a restart', async () => {
    fixture.core.answer = 'refuse';
    await captured('tok_sandbox_reversed_again');
    await turn();
    await turn(60_000);
    fixture.core.answer = 'accept';
    await fixture.restart();
    await turn(60_000);
    assert.deepEqual(new Set(events().map((event) => event.case)), new Set(['captureReversed']));
    await turn(1_999);
    assert.equal(events().at(-1)?.case, 'captureReversed');
    await turn(1);
    assert.equal(events().at(-1)?.case, 'captureReinstated');
    await turn();
    assert.equal(events().at(-1)?.case, 'captureReversed');
  });

  it('has no next stage when nothing was left for one', async () => {
    const capture = await captured('tok_sandbox_reversed_in_two_parts', 1n);
    await turn();
    await turn();
    assert.deepEqual(told(), [['captureReversed', 1]]);
    assert.equal(sums(capture.requestId).reversed, 1);
    assert.equal(fixture.oracle((ledger) => ledger.events()).length, 1);
  });

  it('returns refunds and credits in two parts', async () => {
    const capture = await captured('tok_sandbox_refund_returned_in_two_parts');
    const { requestId: captureRequestId, authorizationRequestId } = capture;
    const refund = { requestId: uuidv7(), captureRequestId, authorizationRequestId, amount: 701n, currency: 'EUR' };
    await fixture.client.refund(refund);
    await turn();
    await turn();
    const credit = { ...holdRequest('tok_sandbox_oct_returned_in_two_parts'), amount: 501n };
    await fixture.client.credit(credit);
    await turn();
    await turn();
    assert.deepEqual(told(), [
      ['refundReturned', 350],
      ['refundReturned', 351],
      ['creditReturned', 250],
      ['creditReturned', 251],
    ]);
    const { entries } = await fixture.client.listEntries({});
    const returned = entries.map(({ kind, refunded, returned }) => [
      EntryKind[kind],
      Number(refunded),
      Number(returned),
    ]);
    assert.deepEqual(returned, [
      ['AUTHORIZATION', 0, 0],
      ['CAPTURE', 0, 0],
      ['REFUND', 0, 701],
      ['CREDIT', 0, 501],
    ]);
  });

  it('returns refunds, which can be refunded again then', async () => {
    for (const [tokenId, returned] of [
      ['tok_sandbox_refund_returned', 701],
      ['tok_sandbox_refund_returned_in_part', 350],
    ] as const) {
      const capture = await captured(tokenId);
      const { requestId: captureRequestId, authorizationRequestId } = capture;
      const refund = { requestId: uuidv7(), captureRequestId, authorizationRequestId, amount: 701n, currency: 'EUR' };
      await fixture.client.refund(refund);
      await turn();
      const event = events().at(-1);
      assert.ok(event?.case === 'refundReturned');
      assert.deepEqual([event.value.refundRequestId, event.value.amount], [refund.requestId, BigInt(returned)]);
      const { entries } = await fixture.client.listEntries({ authorizationRequestId });
      const shown = entries.map(({ kind, refunded, returned }) => [
        EntryKind[kind],
        Number(refunded),
        Number(returned),
      ]);
      assert.deepEqual(shown, [
        ['AUTHORIZATION', 701 - returned, 0],
        ['CAPTURE', 701 - returned, 0],
        ['REFUND', 0, returned],
      ]);
      const again = { ...refund, requestId: uuidv7(), amount: BigInt(returned) };
      assert.equal((await fixture.client.refund(again)).result?.answer, Answer.APPROVED);
    }
  });

  it('returns credits', async () => {
    for (const [tokenId, returned] of [
      ['tok_sandbox_oct_returned', 500n],
      ['tok_sandbox_oct_returned_in_part', 250n],
    ] as const) {
      const { requestId } = holdRequest(tokenId);
      await fixture.client.credit({ ...holdRequest(tokenId), requestId, amount: 500n });
      await turn();
      const event = events().at(-1);
      assert.ok(event?.case === 'creditReturned');
      assert.deepEqual([event.value.creditRequestId, event.value.amount], [requestId, returned]);
      const { entries } = await fixture.client.listEntries({});
      const credit = entries.find((entry) => entry.requestId === requestId);
      assert.deepEqual([credit?.answer, credit?.returned], [Answer.APPROVED, returned]);
    }
  });

  it('ends an authorization early, releasing what is left of it', async () => {
    const cases = [
      ['tok_sandbox_ended_early', AuthorizationEnd.EXPIRED, 'authorization_expired'],
      ['tok_sandbox_voided_elsewhere', AuthorizationEnd.VOIDED, 'authorization_voided'],
    ] as const;
    for (const [tokenId, end, errorCode] of cases) {
      const { authorizationRequestId } = await captured(tokenId);
      await turn();
      const event = events().at(-1);
      assert.ok(event?.case === 'authorizationEnded');
      assert.deepEqual(
        [event.value.requestId, event.value.end, event.value.amount],
        [authorizationRequestId, end, 9_299n],
      );
      assert.deepEqual(sums(authorizationRequestId), { captured: 701, voided: 9_299, reversed: 0 });
      const hold = { requestId: authorizationRequestId, tokenId };
      assert.equal((await fixture.client.capture(captureRequest(hold, 1n))).result?.errorCode, errorCode);
      const voided = await fixture.client.void({ requestId: uuidv7(), authorizationRequestId });
      assert.equal(voided.result?.errorCode, errorCode);
      const { entries } = await fixture.client.listEntries({ authorizationRequestId });
      assert.ok(entries[0]?.endedAt);
    }
  });

  it('ends an authorization after its first capture for tok_sandbox_ended_after_capture', async () => {
    const hold = await fixture.placed('tok_sandbox_ended_after_capture');
    await turn(60_000);
    assert.deepEqual(events(), []);
    await fixture.client.capture(captureRequest(hold, 700n));
    await turn(1_000);
    await fixture.client.capture(captureRequest(hold, 300n));
    await turn(1_000);
    await turn(60_000);
    assert.deepEqual(
      events().map((event) => event.case === 'authorizationEnded' && [event.value.requestId, event.value.amount]),
      [[hold.requestId, 9_000n]],
    );
    assert.deepEqual(sums(hold.requestId), { captured: 1_000, voided: 9_000, reversed: 0 });
    const late = await fixture.client.capture(captureRequest(hold, 1n));
    assert.equal(late.result?.errorCode, 'authorization_expired');
  });

  it('gives back what a declined capture had reserved of an authorization that has ended since', async () => {
    const { authorizationRequestId } = await captured('tok_sandbox_capture_accepted_declined');
    const ledger = new DatabaseSync(fixture.ledgerFile, { timeout: 5_000 });
    const at = fixture.clock.now() + 1;
    ledger
      .prepare(`insert into event (eventId, kind, requestId, stage, occurredAtMs, dueAtMs, attempts)
        values ('its-end', 'authorizationEnded', ?, 0, ?, ?, 0)`)
      .run(authorizationRequestId, at, at);
    ledger.close();
    await turn(1);
    assert.deepEqual(sums(authorizationRequestId), { captured: 0, voided: 9_299, reversed: 0 });
    await turn();
    assert.deepEqual(sums(authorizationRequestId), { captured: 0, voided: 10_000, reversed: 0 });
  });

  it('does not end an authorization that is already closed, and reports nothing', async () => {
    const hold = holdRequest('tok_sandbox_ended_early');
    await fixture.client.authorize(hold);
    await fixture.client.void({ requestId: uuidv7(), authorizationRequestId: hold.requestId });
    await turn();
    assert.deepEqual(events(), []);
    assert.deepEqual(
      fixture.oracle((ledger) => ledger.events()),
      [],
    );
  });
});
