/** What a processor answers is held against the contract before anything else sees it. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import {
  Answer,
  type CaptureRequest,
  CardSchema,
  EntryKind,
  Finding,
  type InquireRequest,
} from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperatorService, ReviewReason } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { openProcessors } from '../../../../services/core/processor/processors.ts';
import { findHold } from '../../../../services/core/storage/hold/read-holds.ts';
import { forSuite } from '../../../suite.ts';
import { accepted, approved, atWork, declined, done, neverSeen } from '../fake-processor.ts';
import { openScriptedStage, type ScriptedStage } from '../scripted-stage.ts';
import { why } from '../stage.ts';

const DAY_MS = 24 * 3_600_000;
const card = create(CardSchema, { brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2030 });

/** Results that the contract does not allow, and the field that is wrong. */
const RESULTS: Readonly<Record<string, Parameters<typeof done>[0]>> = {
  'result.answer': { ...approved, answer: 9 as Answer },
  'result.reference': { ...approved, reference: 'a\0b' },
  'result.bank_reference': { ...approved, bankReference: 'line\nbreak' },
  'result.error_code': { ...declined, errorCode: '\0' },
  'result.error_message': { ...declined, errorMessage: 'm'.repeat(501) },
  'result.card.brand': { ...approved, card: { ...card, brand: '\u0085' } },
  'result.card.last4': { ...approved, card: { ...card, last4: '42424' } },
  'result.card.expiry_month': { ...approved, card: { ...card, expiryMonth: 0 } },
  'result.card.funding': { ...approved, card: { ...card, funding: 'CREDIT' } },
  'result.card.three_d_secure': { ...approved, card: { ...card, threeDSecure: 'yes' } },
  'result.card.decline_code': { ...declined, card: { ...card, declineCode: 'not one' } },
  'result.generated_token_id': { ...approved, generatedTokenId: 't'.repeat(129) },
  'result.expires_at': { ...approved, expiresAt: timestampFromMs(Date.UTC(9999, 0)) },
  'result.expected_by': { answer: Answer.ACCEPTED, expectedBy: { seconds: 10n ** 16n, nanos: 0 } },
  'result.amount_released': { ...approved, amountReleased: -1n },
  'result.request_id': { ...approved, requestId: uuidv7() },
  'result.amount': { ...approved, amount: 10n ** 12n },
};

describe('openProcessor()', () => {
  const scripted = forSuite(openScriptedStage);

  it('tells the processor what an identifier is about when it sends it and when it inquires', async () => {
    const { shop, processor, stage } = scripted;
    scripted.approveAll();
    const hold = await shop.hold();
    const sent: CaptureRequest[] = [];
    processor.says.capture = (request) => void sent.push(request);
    const { capture } = await shop.capture(hold, 1_000n);
    const inquired: InquireRequest[] = [];
    processor.says.inquire = (request) => {
      inquired.push(request);
      return { finding: Finding.NEVER_SEEN, fenced: false };
    };
    await scripted.inquireLater();
    const [asked] = inquired.filter(({ requestId }) => requestId === capture?.requestId);
    const { authorizationRequestId, authorizationReference, kind, amount, currency } = asked ?? {};
    const stored = await findHold(stage.database.query, hold.requestId);
    assert(stored?.processorReference);
    assert.deepEqual(
      [authorizationRequestId, authorizationReference, kind, amount, currency],
      [hold.requestId, stored.processorReference, EntryKind.CAPTURE, 1_000n, 'EUR'],
    );
    assert(asked?.createdAt);
    assert.equal(sent[0]?.authorizationReference, stored.processorReference);
    assert.equal(await scripted.stateOf(capture?.requestId ?? ''), OperationState.UNKNOWN);
  });

  /** The processor as a core sees it, and the fields that it was reported for. */
  function open({ stage }: ScriptedStage) {
    const fields: string[] = [];
    const processors = openProcessors(stage.settings, { onViolation: (_, { field }) => fields.push(field) });
    return {
      fields,
      processor: processors.of({ processor: 'default' }),
      submission: { requestId: uuidv7(), merchantId: 'acme', processorAccount: '' },
      close: () => processors.close(),
    };
  }

  it('takes a result that breaks the contract for an unknown outcome, and names the field', async () => {
    const { fields, processor, submission, close } = open(scripted);
    for (const [field, result] of Object.entries(RESULTS)) {
      scripted.processor.says.capture = () => result;
      assert.deepEqual(await processor.send('capture', { requestId: submission.requestId }), { answer: 'UNKNOWN' });
      assert.equal(fields.at(-1), field);
      scripted.processor.says.inquire = () => done(result);
      assert.deepEqual(await processor.inquire(submission), { found: 'NO_ANSWER' }, field);
    }
    assert.equal(fields.length, 2 * Object.keys(RESULTS).length);
    close();
  });

  it('counts it as answering: others are not refused because of what it says about one', async () => {
    const processors = openProcessors({ ...scripted.stage.settings, PROCESSOR_TIMEOUT_MS: 1_000 });
    const processor = processors.of({ processor: 'default' });
    scripted.processor.says.capture = () => ({ ...approved, reference: '\0' });
    const sinceMs = performance.now();
    // An outage is ten calls without an answer, over one call timeout.
    for (let calls = 0; calls < 20 || performance.now() - sinceMs < 1_200; calls++) {
      await delay(10);
      assert.deepEqual(await processor.send('capture', { requestId: uuidv7() }), { answer: 'UNKNOWN' });
    }
    assert(processor.isAvailable());
    processors.close();
  });

  it('refuses no merchant because of the calls of another one', async () => {
    const processors = openProcessors({ ...scripted.stage.settings, PROCESSOR_TIMEOUT_MS: 1_000 });
    const processor = processors.of({ processor: 'default' });
    scripted.processor.says.authorize = ({ merchantId }) => (merchantId === 'acme' ? undefined : approved);
    const place = (merchantId: string) => processor.send('authorize', { requestId: uuidv7(), merchantId });
    assert.equal((await place('quiet')).answer, 'APPROVED');
    const sinceMs = performance.now();
    for (let calls = 0; calls < 20 || performance.now() - sinceMs < 1_200; calls++) {
      await delay(10);
      assert.deepEqual(await place('acme'), { answer: 'UNKNOWN' });
    }
    const admitted = (merchantId: string) => Array.from({ length: 5 }, () => processor.admits(merchantId));
    assert.deepEqual(admitted('acme'), [true, false, false, false, false]);
    assert.deepEqual([processor.isAvailable(), ...admitted('quiet')], [true, true, true, true, true, true]);
    processors.close();
  });

  it('is away when it does not say how it is, though nobody calls, until it does', async () => {
    const { processor, close } = open(scripted);
    const { says } = scripted.processor;
    let asked = 0;
    says.describe = () => void asked++;
    await processor.askWhenSilent(60_000);
    assert.equal(asked, 0, 'it is not silent yet');
    await processor.askWhenSilent(0);
    assert.equal(processor.isAvailable(), true);
    await processor.askWhenSilent(0);
    assert.deepEqual([asked, processor.isAvailable()], [2, false]);
    says.describe = () => ({ name: 'fake', identity: 'fake', authorizations: {} });
    await processor.askWhenSilent(0);
    assert.equal(processor.isAvailable(), true);
    close();
  });

  it('takes a finding without its result, or with another one, for no answer', async () => {
    const { fields, processor, submission, close } = open(scripted);
    for (const said of [
      { finding: Finding.DONE },
      { finding: Finding.DONE, result: accepted(Date.now(), 1) },
      { finding: Finding.AT_WORK, result: approved },
      { finding: Finding.NEVER_SEEN, fenced: true, result: approved },
      { finding: 9 as Finding },
    ]) {
      scripted.processor.says.inquire = () => said;
      assert.deepEqual(await processor.inquire(submission), { found: 'NO_ANSWER' });
    }
    assert.deepEqual(fields, ['result', 'result', 'result', 'result', 'finding']);
    close();
  });

  it('believes no finding about another identifier', async () => {
    const { fields, processor, submission, close } = open(scripted);
    const inquired = (requestId: string) => {
      scripted.processor.says.inquire = () => ({ ...neverSeen, requestId });
      return processor.inquire(submission);
    };
    assert.deepEqual(await inquired(uuidv7()), { found: 'NO_ANSWER' });
    assert.deepEqual(fields, ['request_id']);
    for (const named of [submission.requestId, '']) assert.deepEqual(await inquired(named), { found: 'NEVER_SEEN' });
    close();
  });

  it('opens no page at an address that is none', async () => {
    const { fields, processor, submission, close } = open(scripted);
    const asked = new Date(Date.UTC(2027, 0));
    const request = {
      requestId: submission.requestId,
      operationRequestId: submission.requestId,
      merchantId: 'acme',
      merchantName: '',
      merchantReference: '',
      description: '',
      memo: '',
      account: '',
      terminalId: 'T1',
      userId: 'u',
      amount: 1n,
      currency: 'EUR',
      returnUrl: '',
      saveCard: false,
      expiresAt: asked,
    };
    scripted.processor.says.createCheckout = () => ({ checkoutUrl: 'javascript:alert(1)' });
    assert.equal(await processor.createCheckout(request), undefined);
    assert.deepEqual(fields, ['checkout_url']);
    const expiresAt = timestampFromMs(asked.getTime() + DAY_MS);
    scripted.processor.says.createCheckout = () => ({ checkoutUrl: 'https://pay.example/1', expiresAt });
    const page = await processor.createCheckout(request);
    assert.deepEqual(page, { url: 'https://pay.example/1', expiresAt: new Date(asked.getTime() + DAY_MS) });
    close();
  });

  it('bounds how long an accepted operation may take, by what the processor says of itself', async () => {
    const { processor, close } = open(scripted);
    scripted.processor.says.describe = () => undefined;
    const [since, said] = [new Date(Date.UTC(2027, 0)), new Date(Date.UTC(2028, 0))];
    const until = async (kind: 'HOLD' | 'CAPTURE') =>
      ((await processor.acceptedUntil(kind, since, said)).getTime() - since.getTime()) / DAY_MS;
    assert.equal(await until('CAPTURE'), 7, 'it does not answer');
    scripted.processor.says.describe = () => ({
      name: 'fake',
      identity: 'fake',
      authorizations: {},
      acceptedLongest: { capture: { seconds: 86_400n } },
    });
    assert.equal(await until('CAPTURE'), 1);
    assert.equal(await until('HOLD'), 7);
    const soon = new Date(since.getTime() + 1);
    assert.deepEqual(await processor.acceptedUntil('CAPTURE', since, soon), soon);
    close();
  });

  it('refuses an event that breaks the contract, whose operation stays unknown', async () => {
    const { shop, processor } = scripted;
    scripted.approveAll();
    const hold = await shop.hold();
    processor.says.capture = () => undefined;
    const { capture } = await shop.capture(hold, 1_000n);
    const { requestId = '' } = capture ?? {};
    for (const result of Object.values(RESULTS))
      assert.equal(await why(scripted.settled(requestId, result)), 'INVALID_REQUEST');
    assert.equal(await why(scripted.settled(requestId, accepted(Date.now(), 1))), 'INVALID_REQUEST');
    assert.equal(await scripted.stateOf(requestId), OperationState.UNKNOWN);
  });

  it('lets what no answer can settle come to review, where an operator decides', async () => {
    const { shop, processor, stage } = scripted;
    scripted.approveAll();
    const operators = stage.client('operator', OperatorService);
    const wrong = { ...approved, reference: 'r'.repeat(100_000), bankReference: '\0' };
    const hold = await shop.hold();
    processor.says.capture = () => wrong;
    processor.says.inquire = () => done(wrong);
    const { capture } = await shop.capture(hold, 1_000n);
    const { requestId = '' } = capture ?? {};
    for (let hour = 0; hour < 40; hour++) await scripted.inquireLater(3_600_000);
    const { items } = await operators.listReviewItems({ merchantId: 'acme', reason: ReviewReason.NEEDS_REVIEW });
    assert(items.some((item) => item.requestId === requestId));
    const decision = { outcome: OperationState.KO, reason: 'their support says so', unfenced: true };
    await operators.resolveOperation({ requestId, ...decision });
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('lets an operator decide what stays accepted for longer than it may', async () => {
    const { shop, processor, stage } = scripted;
    scripted.approveAll();
    const operators = stage.client('operator', OperatorService);
    const hold = await shop.hold();
    const far = accepted(stage.clock.now(), 90 * DAY_MS);
    processor.says.capture = () => far;
    processor.says.inquire = () => ({ ...atWork, result: far });
    const { capture } = await shop.capture(hold, 1_000n);
    const { requestId = '' } = capture ?? {};
    const decision = { requestId, outcome: OperationState.KO, reason: 'their support says so', unfenced: true };
    await scripted.inquireLater(6 * DAY_MS);
    assert.equal(await why(operators.resolveOperation(decision)), 'INVALID_REQUEST');
    for (let hour = 0; hour < 60; hour++) await scripted.inquireLater(3_600_000);
    assert.equal(await scripted.stateOf(requestId), OperationState.NEEDS_REVIEW);
    assert.equal(await why(operators.resolveOperation({ ...decision, unfenced: false })), 'INVALID_REQUEST');
    await operators.resolveOperation(decision);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
  });
});
