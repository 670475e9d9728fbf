/**
 * One sample of each kind of operation, for tests that must cover all kinds; the compiler requires one for a new kind.
 */
import assert from 'node:assert/strict';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { CapabilitiesSchema } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { CrashPoint } from '../../../../services/core/domain/crash-points.ts';
import type { SentKind } from '../../../../services/core/domain/kinds.ts';
import { approved, type FakeProcessor } from '../fake-processor.ts';
import type { Shop } from '../shop.ts';
import type { Stage } from '../stage.ts';

/** Runs into a crash point, and returns the hold that the call is about; undefined = the newest hold, or OCT. */
export interface Run {
  readonly call: (at: Shop) => Promise<unknown>;
  readonly requestId?: string;
}

/**
 * What runs into each point; the books once recovery is done, and the answer to a repetition under the same key then
 * ('' = none).
 */
export const RUNS: Record<CrashPoint, { at: (on: RunOn) => Promise<Run>; ends: string; repeats: string }> = {
  'hold stored': { at: placing, ends: 'FAILED FAILED 0/0/0/0/0', repeats: 'PROCESSOR_ERROR' },
  'hold answered': { at: placing, ends: 'IN_PROGRESS 0/0/10000/0/0', repeats: 'OK' },
  'checkout opened': { at: opening, ends: 'IN_PROGRESS AWAITING_CHECKOUT 0/0/0/0/0', repeats: 'PENDING' },
  'capture stored': { at: capturing, ends: 'IN_PROGRESS 0/0/10000/0/0', repeats: 'PROCESSOR_ERROR' },
  'capture answered': { at: capturing, ends: 'PARTIALLY_CAPTURED 4000/0/6000/0/0', repeats: 'OK' },
  'release stored': { at: releasing, ends: 'IN_PROGRESS 0/0/10000/0/0', repeats: 'PROCESSOR_ERROR' },
  'release answered': { at: releasing, ends: 'RELEASED 0/0/0/10000/0 RELEASED', repeats: 'OK' },
  'partial_release stored': { at: releasingPart, ends: 'IN_PROGRESS 0/0/10000/0/0', repeats: 'PROCESSOR_ERROR' },
  'partial_release answered': { at: releasingPart, ends: 'IN_PROGRESS 0/0/7000/3000/0', repeats: 'OK' },
  'expiry stored': { at: expiring, ends: 'EXPIRED 0/0/0/10000/0 EXPIRED', repeats: '' },
  'expiry answered': { at: expiring, ends: 'EXPIRED 0/0/0/10000/0 EXPIRED', repeats: '' },
  'refund stored': { at: refunding, ends: 'PARTIALLY_CAPTURED 4000/0/6000/0/0', repeats: 'PROCESSOR_ERROR' },
  'refund answered': { at: refunding, ends: 'PARTIALLY_CAPTURED 4000/0/6000/0/0 refunded 1500', repeats: 'OK' },
  'increment stored': { at: incrementing, ends: 'IN_PROGRESS 0/0/10000/0/0', repeats: 'PROCESSOR_ERROR' },
  'increment answered': { at: incrementing, ends: 'IN_PROGRESS 0/0/12000/0/0', repeats: 'OK' },
  'extension stored': { at: extending, ends: 'IN_PROGRESS 0/0/10000/0/0', repeats: 'PROCESSOR_ERROR' },
  'extension answered': { at: extending, ends: 'IN_PROGRESS 0/0/10000/0/0', repeats: 'OK' },
  'renewal stored': { at: keeping, ends: 'IN_PROGRESS 0/0/10000/0/0', repeats: '' },
  'renewal answered': { at: keeping, ends: 'IN_PROGRESS 0/0/10000/0/0', repeats: '' },
  'oct stored': { at: paying, ends: 'KO', repeats: 'PROCESSOR_ERROR' },
  'oct answered': { at: paying, ends: 'OK', repeats: 'OK' },
};

interface RunOn {
  readonly shop: Shop;
  readonly stage: Stage;
}

/** The abilities of an authorization that can do everything. */
export const ABLE = create(CapabilitiesSchema, {
  severalCaptures: true,
  increments: true,
  partialRelease: true,
  extension: true,
  refunds: true,
});

let key = 0;
const newKey = () => ({ idempotencyKey: `crash-${key++}` });

async function placing(): Promise<Run> {
  const fields = newKey();
  return { call: (at) => at.place(fields) };
}

async function opening(): Promise<Run> {
  const fields = newKey();
  return { call: (at) => at.checkout(fields) };
}

async function capturing({ shop }: RunOn): Promise<Run> {
  const [hold, fields] = [await shop.hold(), newKey()];
  return { call: (at) => at.capture(hold, 4_000n, fields), requestId: hold.requestId };
}

async function releasing({ shop }: RunOn): Promise<Run> {
  const [hold, fields] = [await shop.hold(), newKey()];
  return { call: (at) => at.release(hold, fields), requestId: hold.requestId };
}

async function releasingPart({ shop }: RunOn): Promise<Run> {
  const [hold, fields] = [await shop.hold(), newKey()];
  return { call: (at) => at.releasePart(hold, 3_000n, fields), requestId: hold.requestId };
}

async function refunding({ shop }: RunOn): Promise<Run> {
  const [capture, fields] = [await shop.captured(4_000n), newKey()];
  return { call: (at) => at.refund(capture, 1_500n, fields), requestId: capture.holdRequestId };
}

async function incrementing({ shop }: RunOn): Promise<Run> {
  const [hold, fields] = [await shop.hold(), newKey()];
  return { call: (at) => at.increment(hold, 2_000n, fields), requestId: hold.requestId };
}

async function extending({ shop }: RunOn): Promise<Run> {
  const [hold, fields] = [await shop.hold(), newKey()];
  return { call: (at) => at.extend(hold, fields), requestId: hold.requestId };
}

async function expiring({ shop, stage }: RunOn): Promise<Run> {
  const hold = await shop.hold({ tokenId: 'tok_sandbox_expires_2s' });
  stage.clock.advance(2_000);
  return { call: () => stage.expire(), requestId: hold.requestId };
}

async function keeping({ shop, stage }: RunOn): Promise<Run> {
  const keepUntil = timestampFromMs(stage.clock.now() + 3_600_000);
  const hold = await shop.hold({ tokenId: 'tok_sandbox_guarantee_short', keepUntil });
  stage.clock.advance(2_000);
  return { call: () => stage.renewKept(), requestId: hold.requestId };
}

async function paying(): Promise<Run> {
  const fields = newKey();
  return { call: (at) => at.oct(fields) };
}

/** A submission without an answer, and the books of its subject. */
export interface Lost {
  readonly requestId: string;
  readonly books: () => Promise<string>;
}

/**
 * Loses the answer of one submission of each kind that a merchant asks for; the books while it is open, in review, OK
 * and KO.
 */
export const LOSSES: Record<
  Exclude<SentKind, 'EXPIRY' | 'LATE_VOID' | 'RENEWAL'>,
  { lose: (on: LossOn) => Promise<Lost>; open: string; review: string; ok: string; ko: string }
> = {
  HOLD: {
    async lose({ shop, processor }) {
      processor.says.authorize = () => undefined;
      const { preauthorization: hold = assert.fail(), state } = await shop.place();
      assert.equal(state, OperationState.UNKNOWN);
      return { requestId: hold.requestId, books: () => shop.books(hold) };
    },
    open: 'IN_PROGRESS UNKNOWN 0/0/0/0/0',
    review: 'IN_PROGRESS NEEDS_REVIEW 0/0/0/0/0',
    ok: 'IN_PROGRESS 0/0/10000/0/0',
    ko: 'FAILED FAILED 0/0/0/0/0',
  },
  CAPTURE: {
    async lose({ shop, processor }) {
      const hold = await shop.hold();
      processor.says.capture = () => undefined;
      const { capture } = await shop.capture(hold, 4_000n);
      assert.equal(capture?.state, OperationState.UNKNOWN);
      assert.deepEqual([capture.bankReference, capture.captureDate], ['', undefined]);
      return { requestId: capture.requestId, books: () => shop.books(hold) };
    },
    open: 'IN_PROGRESS 0/4000/6000/0/0',
    review: 'IN_PROGRESS 0/4000/6000/0/0',
    ok: 'PARTIALLY_CAPTURED 4000/0/6000/0/0',
    ko: 'IN_PROGRESS 0/0/10000/0/0',
  },
  RELEASE: {
    async lose({ shop, processor }) {
      const hold = await shop.hold();
      processor.says.void = () => undefined;
      const { requestId, state, preauthorization } = await shop.release(hold);
      assert.equal(state, OperationState.UNKNOWN);
      assert.equal(preauthorization?.requestId, hold.requestId);
      return { requestId, books: () => shop.books(hold) };
    },
    open: 'IN_PROGRESS 0/10000/0/0/0',
    review: 'IN_PROGRESS 0/10000/0/0/0',
    ok: 'RELEASED 0/0/0/10000/0 RELEASED',
    ko: 'IN_PROGRESS 0/0/10000/0/0',
  },
  PARTIAL_RELEASE: {
    async lose({ shop, processor }) {
      processor.says.authorize = () => ({ ...approved, capabilities: ABLE });
      const hold = await shop.hold();
      processor.says.decreaseAuthorization = () => undefined;
      const { requestId, state, preauthorization } = await shop.releasePart(hold, 3_000n);
      assert.equal(state, OperationState.UNKNOWN);
      assert.equal(preauthorization?.requestId, hold.requestId);
      return { requestId, books: () => shop.books(hold) };
    },
    open: 'IN_PROGRESS 0/3000/7000/0/0',
    review: 'IN_PROGRESS 0/3000/7000/0/0',
    ok: 'IN_PROGRESS 0/0/7000/3000/0',
    ko: 'IN_PROGRESS 0/0/10000/0/0',
  },
  REFUND: {
    async lose({ shop, processor }) {
      const capture = await shop.captured(4_000n);
      processor.says.refund = () => undefined;
      const { refund } = await shop.refund(capture, 1_500n);
      assert.equal(refund?.state, OperationState.UNKNOWN);
      assert.equal(refund.captureRequestId, capture.requestId);
      return { requestId: refund.requestId, books: () => shop.books({ requestId: capture.holdRequestId }) };
    },
    open: 'PARTIALLY_CAPTURED 4000/0/6000/0/0',
    review: 'PARTIALLY_CAPTURED 4000/0/6000/0/0',
    ok: 'PARTIALLY_CAPTURED 4000/0/6000/0/0 refunded 1500',
    ko: 'PARTIALLY_CAPTURED 4000/0/6000/0/0',
  },
  INCREMENT: {
    async lose({ shop, processor }) {
      const hold = await shop.hold();
      processor.says.incrementAuthorization = () => undefined;
      const { requestId, state, preauthorization } = await shop.increment(hold, 2_000n);
      assert.equal(state, OperationState.UNKNOWN);
      assert.equal(preauthorization?.requestId, hold.requestId);
      return { requestId, books: () => shop.books(hold) };
    },
    open: 'IN_PROGRESS 0/0/10000/0/0',
    review: 'IN_PROGRESS 0/0/10000/0/0',
    ok: 'IN_PROGRESS 0/0/12000/0/0',
    ko: 'IN_PROGRESS 0/0/10000/0/0',
  },
  EXTENSION: {
    async lose({ shop, processor }) {
      const hold = await shop.hold();
      processor.says.extendAuthorization = () => undefined;
      const { requestId, state, preauthorization } = await shop.extend(hold);
      assert.equal(state, OperationState.UNKNOWN);
      assert.equal(preauthorization?.requestId, hold.requestId);
      return { requestId, books: () => shop.books(hold) };
    },
    open: 'IN_PROGRESS 0/0/10000/0/0',
    review: 'IN_PROGRESS 0/0/10000/0/0',
    ok: 'IN_PROGRESS 0/0/10000/0/0',
    ko: 'IN_PROGRESS 0/0/10000/0/0',
  },
  OCT: {
    async lose({ shop, processor }) {
      processor.says.credit = () => undefined;
      const { oct } = await shop.oct();
      assert.equal(oct?.state, OperationState.UNKNOWN);
      const { requestId } = oct;
      const stateOf = async () => (await shop.getOct(requestId)).oct?.state;
      return { requestId, books: async () => OperationState[(await stateOf()) ?? 0] ?? '' };
    },
    open: 'UNKNOWN',
    review: 'NEEDS_REVIEW',
    ok: 'OK',
    ko: 'KO',
  },
};

interface LossOn {
  readonly shop: Shop;
  readonly processor: FakeProcessor;
}
