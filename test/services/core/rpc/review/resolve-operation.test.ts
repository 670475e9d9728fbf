import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { OperationKind } from '../../../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperatorService, ReviewReason } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { Preauthorization } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { isStored } from '../../../../../services/core/books/submission-request.ts';
import { findHold } from '../../../../../services/core/storage/hold/read-holds.ts';
import { forSuite } from '../../../../suite.ts';
import { approved, atWork, declined, done, neverSeen, startFakeProcessor } from '../../fake-processor.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, refusal, why } from '../../stage.ts';

const { OK, KO } = OperationState;
const FENCED = { reason: 'the processor said so on the phone' };
/** The processor does not answer inquiries in these tests unless one configures it. */
const REASON = { ...FENCED, unfenced: true };

describe('resolveOperation()', () => {
  const processor = forSuite(startFakeProcessor);
  const stage = forSuite(() => openStage({ processor: processor.address }));
  const acme = forSuite(() => openMerchant(stage, 'acme'));
  const operators = forSuite(() => stage.client('operator', OperatorService));

  before(() => {
    processor.says = {
      authorize: ({ tokenId }) => (tokenId === 'tok_declined' ? declined : answered(tokenId)),
      createCheckout: () => ({ checkoutUrl: 'https://pay.example/c/1' }),
    };
  });
  afterEach(() => {
    processor.says = { ...processor.says, inquire: () => undefined };
  });
  const answered = (tokenId: string) => (tokenId === 'tok_lost' ? undefined : approved);

  const toReview = (table: string, requestId: string | undefined) =>
    sql(
      stage,
      `update ${table} set ${table === 'hold' ? 'phase' : 'state'} = 'NEEDS_REVIEW', inquire_at = null
        where request_id = $1`,
      [requestId],
    );
  const items = async (filter: object = {}) => (await operators.listReviewItems({ pageSize: 200, ...filter })).items;
  const itemOf = async (requestId: string | undefined) => (await items()).find((each) => each.requestId === requestId);

  /** A hold of 10 000 with a capture of 4 000 whose outcome is unknown. */
  async function lostCapture(): Promise<{ hold: Preauthorization; requestId: string }> {
    const hold = await acme.hold();
    const { capture } = await acme.capture(hold, 4_000n);
    assert.equal(capture?.state, OperationState.UNKNOWN);
    return { hold, requestId: capture.requestId };
  }

  it('lists what is unknown, needs review or is frozen, with its age', async () => {
    const unknown = await lostCapture();
    const review = await lostCapture();
    await toReview('submission', review.requestId);
    const frozen = await acme.hold();
    await sql(stage, 'update hold set frozen = true where request_id = $1', [frozen.requestId]);
    stage.clock.advance(90_000);
    const item = await itemOf(unknown.requestId);
    assert(item);
    const { reason, kind, amount, currency, merchantId, holdRequestId, ageS, nextInquiryAt } = item;
    assert.deepEqual(
      { reason, kind, amount, currency, merchantId, holdRequestId, ageS },
      {
        reason: ReviewReason.UNKNOWN,
        kind: OperationKind.CAPTURE,
        amount: 4_000n,
        currency: 'EUR',
        merchantId: 'acme',
        holdRequestId: unknown.hold.requestId,
        ageS: 90n,
      },
    );
    assert(nextInquiryAt);
    assert.equal((await itemOf(review.requestId))?.reason, ReviewReason.NEEDS_REVIEW);
    assert.equal((await itemOf(review.requestId))?.nextInquiryAt, undefined);
    assert.equal((await itemOf(frozen.requestId))?.reason, ReviewReason.FROZEN);
    const onlyFrozen = await items({ reason: ReviewReason.FROZEN });
    assert.deepEqual(
      onlyFrozen.map(({ requestId }) => requestId),
      [frozen.requestId],
    );
    assert.deepEqual(await items({ merchantId: 'nobody' }), []);
  });

  it('lists them by pages, oldest first, of whatever kind', async () => {
    const all = (await items()).map(({ requestId }) => requestId);
    assert(all.length >= 3);
    const paged: string[] = [];
    let pageToken = '';
    do {
      const page = await operators.listReviewItems({ pageSize: 1, pageToken });
      paged.push(...page.items.map(({ requestId }) => requestId));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    assert.deepEqual(paged, all);
    assert.deepEqual(all, all.toSorted());
  });

  it('settles a capture as OK, with its references, its books and its operation', async () => {
    const { hold, requestId } = await lostCapture();
    await toReview('submission', requestId);
    const resolved = await operators.resolveOperation({
      requestId,
      outcome: OK,
      processorReference: 'p-1',
      bankReference: 'b-1',
      ...REASON,
    });
    assert.equal(resolved.operation?.state, OK);
    assert.equal(resolved.operation?.bankReference, 'b-1');
    assert.equal(await acme.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/0');
    assert.deepEqual(await acme.results(hold), ['authorized', 'captured 4000']);
    assert.equal(await itemOf(requestId), undefined);
  });

  it('settles a capture as KO, with the processor’s code, and returns its amount to the hold', async () => {
    const { hold, requestId } = await lostCapture();
    const processorError = { code: 'not_found', message: 'they never saw it' };
    const { operation } = await operators.resolveOperation({ requestId, outcome: KO, processorError, ...REASON });
    const [entry] = (await operators.listAuditEntries({ target: requestId })).entries;
    assert.equal(JSON.parse(entry?.detail ?? '').unfenced, true, 'the audit log says that the decision was unfenced');
    assert.equal(operation?.processorError?.code, 'not_found');
    assert.equal(operation?.statusInfo, 'failed');
    assert.equal(await acme.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('settles holds, releases, expiries and late voids', async () => {
    const { preauthorization: placed } = await acme.place({ tokenId: 'tok_lost' });
    const { preauthorization: failed } = await acme.place({ tokenId: 'tok_lost' });
    assert(placed && failed);
    await operators.resolveOperation({ requestId: placed.requestId, outcome: OK, ...REASON });
    await operators.resolveOperation({ requestId: failed.requestId, outcome: KO, ...REASON });
    assert.equal(await acme.books(placed), 'IN_PROGRESS 0/0/10000/0/0');
    assert.equal(await acme.books(failed), 'FAILED FAILED 0/0/0/0/0');

    const released = await acme.hold();
    const releaseId = uuidv7();
    const now = new Date(stage.clock.now());
    const hashOf = async (id: string) => (await findHold(stage.database.query, id))?.idHash ?? assert.fail();
    const release = { kind: 'RELEASE', requestId: releaseId, idHash: await hashOf(released.requestId) } as const;
    await stage.recovery.books.store({ ...release, at: now, inquireAt: now });
    await toReview('submission', releaseId);
    await operators.resolveOperation({ requestId: releaseId, outcome: KO, ...REASON });
    assert.equal(await acme.books(released), 'IN_PROGRESS 0/0/10000/0/0');

    for (const [kind, outcome, books] of [
      ['EXPIRY', OK, 'EXPIRED 0/0/0/10000/0 EXPIRED'],
      ['EXPIRY', KO, 'IN_PROGRESS 0/0/10000/0/0'],
      ['LATE_VOID', KO, 'FAILED FAILED 0/0/0/0/0'],
      ['LATE_VOID', OK, 'FAILED FAILED 0/0/0/0/0'],
    ] as const) {
      const holdRequestId = kind === 'LATE_VOID' ? await declinedHold() : await holdThatIsOver();
      const requestId = uuidv7();
      const at = new Date(stage.clock.now());
      const idHash = await hashOf(holdRequestId);
      const stored = await stage.recovery.books.store({ kind, requestId, idHash, at, inquireAt: at });
      assert(isStored(stored));
      await toReview('submission', requestId);
      assert.equal((await itemOf(requestId))?.lateVoid, kind === 'LATE_VOID');
      await operators.resolveOperation({ requestId, outcome, ...REASON });
      assert.equal(await acme.books({ requestId: holdRequestId }), books, `${kind} ${OperationState[outcome]}`);
      assert.equal(await itemOf(requestId), undefined);
    }
  });

  it('settles an OCT', async () => {
    const { oct } = await acme.oct({ tokenId: 'tok_lost' });
    assert(oct);
    await operators.resolveOperation({ requestId: oct.requestId, outcome: OK, bankReference: 'b-2', ...REASON });
    assert.equal((await acme.getOct(oct.requestId)).oct?.state, OK);
  });

  it('unfreezes a hold, alone or with a capture’s result', async () => {
    const { hold, requestId } = await lostCapture();
    await sql(stage, 'update hold set frozen = true where request_id = $1', [hold.requestId]);
    const settled = await operators.resolveOperation({ requestId, outcome: KO, ...REASON });
    assert.equal(settled.frozen, true);
    assert.equal(await acme.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
    const thawed = await operators.resolveOperation({ requestId: hold.requestId, unfreezeHold: true, ...REASON });
    assert.equal(thawed.frozen, false);
    assert.equal(await acme.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('rejects what is settled, still under inquiry or unknown, and calls without a reason or a decision', async () => {
    const done = await acme.hold();
    const cases: [string, object, string][] = [
      ['settled', { requestId: done.requestId, outcome: OK, ...REASON }, 'INVALID_REQUEST'],
      ['checkout open', { requestId: await openCheckout(), outcome: KO, ...REASON }, 'INVALID_REQUEST'],
      ['no such', { requestId: uuidv7(), outcome: OK, ...REASON }, 'OPERATION_NOT_FOUND'],
      ['no id', { requestId: 'x', outcome: OK, ...REASON }, 'OPERATION_NOT_FOUND'],
      ['no reason', { requestId: done.requestId, outcome: OK }, 'INVALID_REQUEST'],
      ['no decision', { requestId: done.requestId, ...REASON }, 'INVALID_REQUEST'],
      [
        'no final outcome',
        { requestId: done.requestId, outcome: OperationState.UNKNOWN, ...REASON },
        'INVALID_REQUEST',
      ],
    ];
    for (const [name, request, reason] of cases) {
      assert.equal(await why(operators.resolveOperation(request)), reason, name);
    }
    assert.equal(await acme.books(done), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it("is contradicted by a later result: the hold is frozen, the operator's result stays", async () => {
    const { hold, requestId } = await lostCapture();
    await operators.resolveOperation({ requestId, outcome: KO, ...REASON });
    await sql(stage, 'update submission set inquire_at = $2 where request_id = $1', [requestId, new Date(0)]);
    processor.says = { ...processor.says, inquire: () => done(approved) };
    await stage.inquire();
    assert.equal(await acme.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
    assert.equal((await itemOf(hold.requestId))?.reason, ReviewReason.FROZEN);
  });

  describe('inquires with a fence first, and', () => {
    const inquiries = (requestId: string) =>
      processor.heard.filter((call) => call.method === 'inquire' && call.requestId === requestId).length;

    it('settles as KO what the processor has never seen and now never will', async () => {
      const { hold, requestId } = await lostCapture();
      processor.says = { ...processor.says, inquire: () => neverSeen };
      const { operation, overruled } = await operators.resolveOperation({ requestId, outcome: KO, ...FENCED });
      assert.equal(operation?.state, KO);
      assert(!overruled);
      assert.equal(inquiries(requestId), 1);
      assert.equal(await acme.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    });

    for (const [outcome, said, books] of [
      [KO, done(approved), 'PARTIALLY_CAPTURED 4000/0/6000/0/0'],
      [OK, neverSeen, 'IN_PROGRESS 0/0/10000/0/0'],
      [OK, done(declined), 'IN_PROGRESS 0/0/10000/0/0'],
    ] as const) {
      it(`says that the processor overruled ${OperationState[outcome]}: ${books}`, async () => {
        const { hold, requestId } = await lostCapture();
        processor.says = { ...processor.says, inquire: () => said };
        const answer = await operators.resolveOperation({ requestId, outcome, ...REASON });
        assert(answer.overruled);
        assert.equal(answer.operation?.state, outcome === OK ? KO : OK);
        assert.equal(await acme.books(hold), books);
      });
    }

    it('refuses while the processor is working on it, and while it does not answer', async () => {
      const { hold, requestId } = await lostCapture();
      processor.says = { ...processor.says, inquire: () => atWork };
      assert.equal(await why(operators.resolveOperation({ requestId, outcome: KO, ...REASON })), 'INVALID_REQUEST');
      processor.says = { ...processor.says, inquire: () => undefined };
      assert.equal(await why(operators.resolveOperation({ requestId, outcome: KO, ...FENCED })), 'INVALID_REQUEST');
      assert.equal(await acme.books(hold), 'IN_PROGRESS 0/4000/6000/0/0');
    });
  });

  async function declinedHold(): Promise<string> {
    const { metadata } = await refusal(acme.place({ tokenId: 'tok_declined' }));
    return metadata.requestId ?? '';
  }

  async function holdThatIsOver(): Promise<string> {
    const { requestId } = await acme.hold();
    await sql(stage, 'update hold set expires_at = $2 where request_id = $1', [requestId, new Date(stage.clock.now())]);
    return requestId;
  }

  async function openCheckout(): Promise<string> {
    const { preauthorization } = await acme.checkout();
    return preauthorization?.requestId ?? '';
  }
});
