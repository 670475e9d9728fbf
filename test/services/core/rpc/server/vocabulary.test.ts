/** Every refusal code of core, each provoked by a call. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { ErrorReason } from '../../../../../proto/gen/holdfast/v1/error_pb.js';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';
import { storedKey } from '../../stored-key.ts';

/** Used by the gateway only. */
const REST_ONLY = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'RATE_LIMITED'];
/** Needs a database that freezes in the middle of a statement: test/services/core/rpc/write.test.ts provokes it. */
const FROZEN_ONLY = ['OUTCOME_UNKNOWN'];
const KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----`;

describe('the vocabulary of refusals', () => {
  const stage = forSuite(openStage);
  const several = forSuite(() => openMerchant(stage, 'several'));
  const sole = forSuite(() => openMerchant(stage, 'sole', { allowMultipleCaptures: false }));

  const operators = forSuite(() => stage.client('operator', OperatorService));
  const correct = ({ requestId }: { requestId: string }, outcome = OperationState.KO) =>
    operators.correctOperation({ requestId, outcome, reason: 'they say so' });

  const EARNED: Record<string, () => Promise<unknown>> = {
    INVALID_REQUEST: () => several.place({ amount: 0n }),
    TOKEN_INVALID: () => several.place({ tokenId: 'tok_sandbox_invalid' }),
    TIME_OUT_OF_RANGE: () => several.place({ expectedCaptureAt: timestampFromMs(stage.clock.now() - 1) }),
    AMOUNT_TOO_LARGE: async () => several.increment(await several.hold(), 999_999_990_000n),
    AMOUNT_EXCEEDS_HOLD: async () => several.capture(await several.hold(), 10_001n),
    UNAUTHENTICATED: () => stage.channel('credential').holds.listPreauthorizations({}),
    FORBIDDEN: () => stage.channel('processor').holds.listPreauthorizations({}),
    OCT_NOT_ALLOWED: async () => (await openMerchant(stage, 'shut', { allowOct: false })).oct(),
    async LIMIT_EXCEEDED() {
      const limits = [{ operation: 'OCT', currency: 'EUR', perOperation: 699n }];
      return (await openMerchant(stage, 'limited', { limits })).oct();
    },
    CARD_DECLINED: () => several.place({ tokenId: 'tok_sandbox_declined' }),
    PREAUTHORIZATION_NOT_FOUND: () => several.get({ requestId: randomUUID() }),
    OPERATION_NOT_FOUND: () => several.getOct(randomUUID()),
    PROCESSOR_ERROR: () => several.oct({ tokenId: 'tok_sandbox_processor_error' }),
    async PRECONDITION_FAILED() {
      const { merchants } = stage.channel('operator');
      const { merchant } = await merchants.getMerchant({ merchantId: 'several' });
      const { contract } = merchant ?? assert.fail();
      await merchants.createApiKey({ merchantId: 'several' });
      return merchants.updateMerchant({ merchantId: 'several', name: 's', contract, etag: merchant?.etag ?? '' });
    },
    async SIGNATURE_REQUIRED() {
      const { merchants } = stage.channel('operator');
      const terms = { currencies: ['EUR'], terminals: ['T1'], requireSignedCaptures: true, capturePublicKey: KEY };
      await merchants.createMerchant({ merchantId: 'signing', name: 's', contract: terms });
      const capture = { merchantId: 'signing', preauthorizationId: 'pre_x', amountToCapture: 1n };
      return stage.channel('internal').holds.capturePreauthorization(capture);
    },
    async HOLD_EXPIRED() {
      const hold = await several.hold({ tokenId: 'tok_sandbox_expires_2s' });
      stage.clock.advance(2_000);
      return several.release(hold);
    },
    async HOLD_RELEASED() {
      const hold = await several.hold();
      await several.release(hold);
      return several.capture(hold, 1n);
    },
    async HOLD_CAPTURED() {
      const hold = await several.hold();
      await several.capture(hold, 10_000n);
      return several.capture(hold, 1n);
    },
    HOLD_NOT_PLACED: async () => {
      const { preauthorization: hold = assert.fail() } = await several.place({ tokenId: 'tok_sandbox_timeout_lost' });
      return several.release(hold);
    },
    async MULTIPLE_CAPTURES_NOT_ALLOWED() {
      const hold = await sole.hold();
      await sole.capture(hold, 1n);
      return sole.capture(hold, 1n);
    },
    async CAPTURE_IN_FLIGHT() {
      const hold = await sole.hold({ tokenId: 'tok_sandbox_capture_timeout_applied' });
      await sole.capture(hold, 1n);
      return sole.capture(hold, 1n);
    },
    AMOUNT_EXCEEDS_CAPTURE: async () => several.refund(await several.captured(), 10_001n),
    CAPTURE_NOT_FOUND: () => several.refund({ requestId: randomUUID() }),
    async CAPTURE_NOT_SETTLED() {
      const hold = await several.hold({ tokenId: 'tok_sandbox_capture_accepted' });
      const { capture } = await several.capture(hold, 1n);
      return several.refund(capture ?? assert.fail());
    },
    async HOLD_FROZEN() {
      const hold = await several.hold();
      await sql(stage, 'update hold set frozen = true where request_id = $1', [hold.requestId]);
      assert.equal(await why(several.release(hold)), 'HOLD_FROZEN');
      return several.capture(hold, 1n);
    },
    OUTCOME_UNCHANGED: async () => correct(await several.captured(1n), OperationState.OK),
    NOT_CORRECTABLE: async () => correct(await several.hold()),
    async OPERATION_NOT_FINAL() {
      const { capture } = await several.capture(await several.hold({ tokenId: 'tok_sandbox_capture_accepted' }), 1n);
      return correct(capture ?? assert.fail());
    },
    NOT_SUPPORTED: async () => several.capture(await several.hold({ tokenId: 'tok_sandbox_single_capture' }), 1n),
    async IDEMPOTENCY_IN_FLIGHT() {
      const fields = { idempotencyKey: 'running', tokenId: 'tok_sandbox_slow' };
      const running = several.place(fields);
      while (
        (await sql(stage, 'select 1 from claim where key = $1', [storedKey(several.merchantId, 'running')])).length ===
        0
      );
      const again = several.place(fields);
      await Promise.allSettled([again]);
      await stage.soon(running);
      return again;
    },
    async IDEMPOTENCY_KEY_REUSED() {
      await several.hold({ idempotencyKey: 'reused' });
      return several.oct({ idempotencyKey: 'reused' });
    },
    async STREAM_TOKEN_TOO_OLD() {
      const { operations } = stage.channel('internal');
      const watching = operations.watchOperations({})[Symbol.asyncIterator]();
      const { resumeToken } = (await watching.next()).value;
      await several.hold();
      await watching.next();
      stage.clock.advance(91 * 24 * 3_600_000);
      return operations.watchOperations({ resumeToken })[Symbol.asyncIterator]().next();
    },
    async RECONCILING() {
      await sql(stage, 'update installation set reconciling_since = now()');
      const asked = several.release({ requestId: randomUUID() });
      await Promise.allSettled([asked]);
      await sql(stage, 'update installation set reconciling_since = null');
      return asked;
    },
    async UNAVAILABLE() {
      const hold = await several.hold({ tokenId: 'tok_sandbox_capture_timeout_applied' });
      const { capture } = await several.capture(hold, 5n);
      const { events } = stage.channel('processor');
      const value = { captureRequestId: capture?.requestId ?? '', amount: 5n, reference: 'r' };
      const occurredAt = timestampFromMs(stage.clock.now());
      return events.reportEvent({ eventId: 'early', occurredAt, event: { case: 'captureReversed', value } });
    },
  };

  for (const [word, call] of Object.entries(EARNED)) {
    it(word, async () => assert.equal(await why(call()), word));
  }

  it('has no unused code', () => {
    const words = Object.keys(ErrorReason).filter((word) => Number.isNaN(Number(word)) && word !== 'UNSPECIFIED');
    assert.deepEqual(words.sort(), [...Object.keys(EARNED), ...REST_ONLY, ...FROZEN_ONLY].sort());
  });
});
