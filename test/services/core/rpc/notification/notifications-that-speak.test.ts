/** What a notification's body says by itself: its type, why the processor refused, and the hold right after the result. */
import assert from 'node:assert/strict';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Hold } from '../../../../../gateway/rest/preauthorization/hold.ts';
import { CapabilitiesSchema } from '../../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { Preauthorization } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { notifiedBody } from '../../../../../services/core/books/operation-result.ts';
import { KIND_NAMES } from '../../../../../services/core/domain/kinds.ts';
import { readNotified } from '../../../../../services/core/storage/delivery/read-notified.ts';
import { findResult } from '../../../../../services/core/storage/operation/operation-row.ts';
import { forSuite } from '../../../../suite.ts';
import { approved, declined } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant, sql } from '../../shop.ts';
import { refusal } from '../../stage.ts';

const DAY_MS = 24 * 3_600_000;
const TERMS = { webhookUrl: 'https://merchant.example', notifyHolds: true, notifyExpiringHours: 24 };

/** The fields of `hold`, as GET of the hold has them. */
const SHOWN = [
  ...['status', 'phase', 'amount', 'amountCaptured', 'amountRemaining', 'amountReleased', 'amountRefunded'],
  ...['amountReversed', 'expiresAt', 'guaranteedUntil'],
] as const;

interface Body {
  readonly type?: string;
  readonly processorCode?: string;
  readonly processorMessage?: string;
  readonly hold?: object;
}

describe('a notification that speaks for itself', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'speaks', TERMS));
  const operators = forSuite(() => scripted.stage.client('operator', OperatorService));
  const inDays = (days: number) => timestampFromMs(scripted.stage.clock.now() + days * DAY_MS);
  const capture = async (amount = 4_000n) => {
    const hold = await shop.hold();
    const { capture: done } = await shop.capture(hold, amount);
    return { hold, requestId: done?.requestId ?? assert.fail() };
  };
  const refund = async () => {
    const { hold, requestId } = await capture();
    const { refund: done } = await shop.refund({ requestId }, 1_500n);
    return { hold, requestId: done?.requestId ?? assert.fail() };
  };
  const reverse = async () => {
    const { hold, requestId: captureRequestId } = await capture();
    const value = { captureRequestId, amount: 700n, reference: 'rev' };
    await scripted.report({ case: 'captureReversed', value });
    return { hold, captureRequestId };
  };
  const checkout = async () => {
    processor.says.createCheckout = () => ({ checkoutUrl: 'https://pay.example/1' });
    const { preauthorization } = await shop.checkout({ returnUrl: 'https://shop.example' });
    return preauthorization ?? assert.fail();
  };
  const keep = async () => {
    processor.says.authorize = () => ({ ...approved, guaranteedUntil: inDays(5) });
    const hold = await shop.hold({ keepUntil: inDays(30) });
    scripted.stage.clock.advance(3.5 * DAY_MS);
    return hold;
  };

  /** What makes each kind of result, by its type. Each returns the hold. */
  const MAKE: Readonly<Record<string, () => Promise<Pick<Preauthorization, 'requestId'>>>> = {
    'HOLD payment.authorized': () => shop.hold(),
    async 'HOLD payment.declined'() {
      processor.says.authorize = () => declined;
      return { requestId: (await refusal(shop.place())).metadata.requestId ?? assert.fail() };
    },
    async 'HOLD payment.failed'() {
      const hold = await checkout();
      await shop.release(hold);
      return hold;
    },
    'CAPTURE payment.captured': async () => (await capture()).hold,
    async 'CAPTURE payment.declined'() {
      const hold = await shop.hold();
      await shop.capture(hold, 1_000n);
      processor.says.capture = () => declined;
      await refusal(shop.capture(hold, 2_000n, { finalCapture: true }));
      return hold;
    },
    async 'RELEASE payment.released'() {
      const { hold } = await capture();
      await shop.release(hold);
      return hold;
    },
    async 'RELEASE payment.declined'() {
      const hold = await checkout();
      processor.says.void = () => declined;
      await refusal(shop.release(hold));
      return hold;
    },
    async 'PARTIAL_RELEASE payment.partially_released'() {
      processor.says.authorize = () => ({
        ...approved,
        capabilities: create(CapabilitiesSchema, { partialRelease: true }),
      });
      const hold = await shop.hold();
      await shop.releasePart(hold, 2_500n);
      return hold;
    },
    async 'INCREMENT payment.incremented'() {
      const hold = await shop.hold();
      processor.says.incrementAuthorization = () => ({ ...approved, guaranteedUntil: inDays(2) });
      await shop.increment(hold, 500n);
      return hold;
    },
    async 'EXTENSION payment.extended'() {
      const hold = await shop.hold();
      scripted.stage.clock.advance(60_000);
      processor.says.extendAuthorization = () => ({ ...approved, expiresAt: inDays(30) });
      await shop.extend(hold);
      return hold;
    },
    async 'RENEWAL payment.renewed'() {
      const hold = await keep();
      await scripted.stage.renewKept();
      return hold;
    },
    async 'RENEWAL payment.renewal_declined'() {
      const hold = await keep();
      processor.says.authorize = () => declined;
      await scripted.stage.renewKept();
      return hold;
    },
    'REFUND payment.refunded': async () => (await refund()).hold,
    async 'REFUND_RETURN payment.refund_returned'() {
      const { hold, requestId } = await refund();
      await scripted.settled(requestId, declined);
      return hold;
    },
    'REVERSAL payment.reversed': async () => (await reverse()).hold,
    async 'REINSTATEMENT payment.reinstated'() {
      const { hold, captureRequestId } = await reverse();
      const value = { captureRequestId, amount: 300n, reference: 'rei' };
      await scripted.report({ case: 'captureReinstated', value });
      return hold;
    },
    async 'CORRECTION payment.corrected'() {
      const { hold, requestId } = await capture();
      await operators.correctOperation({ requestId, outcome: OperationState.KO, reason: 'The bank says so.' });
      return hold;
    },
    async 'EXPIRING payment.expiring'() {
      const { hold } = await capture();
      assert(hold.expiresAt);
      scripted.stage.clock.advance(timestampMs(hold.expiresAt) - scripted.stage.clock.now() - 60_000);
      await scripted.stage.noticeExpiring();
      return hold;
    },
    async 'EXPIRY payment.expired'() {
      const { hold } = await capture();
      scripted.stage.clock.advance(40 * DAY_MS);
      await scripted.stage.expire();
      return hold;
    },
  };
  const OF_OCTS = {
    async 'OCT oct.paid'() {
      return (await shop.oct()).oct?.requestId;
    },
    async 'OCT oct.declined'() {
      processor.says.credit = () => declined;
      return (await refusal(shop.oct())).metadata.requestId;
    },
    async 'OCT_RETURN oct.returned'() {
      const { oct } = await shop.oct();
      const value = { creditRequestId: oct?.requestId ?? '', amount: 300n, reference: 'ret' };
      await scripted.report({ case: 'creditReturned', value });
      return oct?.requestId;
    },
  };

  it('is tried with every kind of result', () => {
    const tried = Object.keys({ ...MAKE, ...OF_OCTS }).map((name) => name.split(' ')[0]);
    assert.deepEqual([...new Set(tried)].sort(), KIND_NAMES.toSorted());
  });

  for (const [name, make] of Object.entries(MAKE)) {
    const [kind = '', type] = name.split(' ');
    it(`has the hold as GET shows it right after: ${name}`, async () => {
      const hold = await make();
      const now = Hold.json(await shop.get(hold));
      const { requestId, text, body } = await newestOf(hold.requestId, kind);
      assert.equal(body.type, type);
      const shown = Object.fromEntries(SHOWN.filter((each) => each in now).map((each) => [each, now[each]]));
      assert.deepEqual(body.hold, shown);
      await sameAsOperation(requestId, body);
      // Whatever happens to the hold later, the body is made again as it was.
      await sql(
        scripted.stage,
        `update hold set captured = 0, in_flight = 0, remaining = 0, released = amount, reversed = 0, refunded = 0,
          release_reason = 'RELEASED', status = 'RELEASED', closed_at = now(), closing = false
          where request_id = $1 and phase = 'AUTHORIZED'`,
        [hold.requestId],
      );
      assert.equal(await madeAgain(requestId), text);
    });
  }

  for (const [name, make] of Object.entries(OF_OCTS)) {
    const [kind = '', type] = name.split(' ');
    it(`has no hold: ${name}`, async () => {
      const { requestId, text, body } = await newestOf((await make()) ?? assert.fail(), kind);
      assert.deepEqual([body.type, 'hold' in body], [type, false]);
      await sameAsOperation(requestId, body);
      assert.equal(await madeAgain(requestId), text);
    });
  }

  it('is made again as it was signed when its result is of a release before', async () => {
    processor.says.capture = () => declined;
    const hold = await shop.hold();
    await refusal(shop.capture(hold, 1_000n));
    const { requestId, body } = await newestOf(hold.requestId, 'CAPTURE');
    await sql(
      scripted.stage,
      `update operation set body_form = null, status_after = null, phase_after = null, amount_after = null,
        captured_after = null, remaining_after = null, released_after = null, refunded_after = null,
        reversed_after = null, expires_at_after = null, guaranteed_until_after = null where request_id = $1`,
      [requestId],
    );
    const { type, processorCode, processorMessage, hold: after, ...asBefore } = body;
    assert.deepEqual([type, processorCode, processorMessage], ['payment.declined', 'no', 'No.']);
    assert(after);
    assert.equal(await madeAgain(requestId), JSON.stringify(asBefore));
  });

  /** The refusal is that of GET /operations. */
  async function sameAsOperation(requestId: string, body: Body): Promise<void> {
    const { operation } = await shop.operations.getOperation({ merchantId: shop.merchantId, requestId });
    const { code, message } = operation?.processorError ?? {};
    assert.deepEqual([body.processorCode, body.processorMessage], [code, message]);
  }

  /** The newest notification of a kind about a hold or an OCT. */
  async function newestOf(subjectId: string, kind: string) {
    const text = `select o.request_id as "requestId", convert_from(d.body, 'UTF8') as text
      from operation o join delivery d on d.request_id = o.request_id::text
      where (o.request_id = $1 or o.hold_request_id = $1 or o.oct_request_id = $1) and o.kind = $2
      order by o.sequence desc limit 1`;
    const [row = assert.fail(`no ${kind}`)] = await sql<{ requestId: string; text: string }>(scripted.stage, text, [
      subjectId,
      kind,
    ]);
    return { ...row, body: JSON.parse(row.text) as Body };
  }

  /** The body, made from the books. */
  async function madeAgain(requestId: string): Promise<string> {
    const { query } = scripted.stage.database;
    const [result, facts] = [await findResult(query, requestId), await readNotified(query, [requestId])];
    assert(result);
    return notifiedBody(result, facts.get(requestId) ?? assert.fail());
  }
});
