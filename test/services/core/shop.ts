/** Calls core in a merchant's name, with defaults for all fields. */
import assert from 'node:assert/strict';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import type { Capture, Preauthorization } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { HoldPhase, HoldStatus, ReleaseReason } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { type CARD, pay } from '../sandbox/checkout/browse.ts';
import { contract, type Stage } from './stage.ts';

export type Shop = ReturnType<typeof openShop>;

/** Creates a merchant and its shop. */
export async function openMerchant(stage: Stage, merchantId: string, terms: Parameters<typeof contract>[0] = {}) {
  const { merchants } = stage.channel('operator');
  const { apiKey, signingSecret } = await merchants.createMerchant({
    merchantId,
    name: merchantId,
    contract: contract(terms),
  });
  return { ...openShop(stage, merchantId), apiKey, signingSecret };
}

/** Opens the shop of a merchant at one of the cores. */
export function openShop(stage: Stage, merchantId: string, core = 0) {
  const { holds, refunds, octs, operations } = stage.channel('gateway', core);
  const place = (fields: object = {}) =>
    holds.createPreauthorization({ ...CUSTOMER, merchantId, tokenId: 'tok_sandbox_ok', amount: 10_000n, ...fields });
  const shop = {
    merchantId,
    place,
    /** Places a hold; asserts that it succeeds. */
    async hold(fields: object = {}): Promise<Preauthorization> {
      const { preauthorization, state } = await place(fields);
      assert.equal(state, OperationState.OK);
      assert(preauthorization);
      return preauthorization;
    },
    checkout: (fields: object = {}) =>
      holds.createPreauthorization({ ...CUSTOMER, merchantId, amount: 10_000n, ...fields }),
    capture: ({ preauthorizationId }: { preauthorizationId: string }, amountToCapture: bigint, fields: object = {}) =>
      holds.capturePreauthorization({ merchantId, preauthorizationId, amountToCapture, ...fields }),
    release: ({ requestId }: { requestId: string }, fields: object = {}) =>
      holds.releasePreauthorization({ merchantId, requestId, ...fields }),
    releasePart: ({ requestId }: { requestId: string }, amountToRelease: bigint, fields: object = {}) =>
      holds.partiallyReleasePreauthorization({ merchantId, requestId, amountToRelease, ...fields }),
    increment: ({ preauthorizationId }: { preauthorizationId: string }, amountToAdd: bigint, fields: object = {}) =>
      holds.incrementPreauthorization({ merchantId, preauthorizationId, amountToAdd, ...fields }),
    extend: ({ preauthorizationId }: { preauthorizationId: string }, fields: object = {}) =>
      holds.extendPreauthorization({ merchantId, preauthorizationId, ...fields }),
    renew: ({ requestId }: { requestId: string }, fields: object = {}) =>
      holds.renewPreauthorization({ merchantId, requestId, ...fields }),
    async get({ requestId }: { requestId: string }): Promise<Preauthorization> {
      const { preauthorization } = await holds.getPreauthorization({ merchantId, requestId });
      assert(preauthorization);
      return preauthorization;
    },
    /** Returns the books of a hold in one line. */
    books: async (hold: { requestId: string }) => inOneLine(await shop.get(hold)),
    oct: (fields: object = {}) =>
      octs.createOct({ ...CUSTOMER, merchantId, tokenId: 'tok_sandbox_ok', amount: 700n, ...fields }),
    /** Places a hold and captures of it; asserts that both succeed. */
    async captured(amount = 10_000n, fields: object = {}): Promise<Capture> {
      const { capture } = await shop.capture(await shop.hold(fields), amount);
      assert.equal(capture?.state, OperationState.OK);
      return capture;
    },
    refund: ({ requestId }: { requestId: string }, amount?: bigint, fields: object = {}) =>
      refunds.createRefund({ merchantId, captureRequestId: requestId, amount, ...fields }),
    getRefund: (requestId: string) => refunds.getRefund({ merchantId, requestId }),
    getOct: (requestId: string) => octs.getOct({ merchantId, requestId }),
    /** Returns kind and statusInfo of a hold's results, oldest first. */
    async results({ requestId }: { requestId: string }): Promise<string[]> {
      const of = await operations.listOperations({ merchantId, holdRequestId: requestId });
      const own = await operations.getOperation({ merchantId, requestId });
      const words = of.operations.map((operation) => `${operation.statusInfo} ${operation.amount}`).reverse();
      return own.operation?.statusInfo ? [own.operation.statusInfo, ...words] : words;
    },
    operations,
  };
  return shop;
}

/**
 * A hold in one line: status, phase, captured/in flight/remaining/released/reversed, why the rest was released, and
 * what was refunded.
 */
function inOneLine(hold: Preauthorization): string {
  const { amountCaptured, amountInFlight, amountRemaining, amountReleased, amountReversed } = hold;
  const amounts = [amountCaptured, amountInFlight, amountRemaining, amountReleased, amountReversed].join('/');
  const reason = hold.releaseReason === ReleaseReason.UNSPECIFIED ? '' : ` ${ReleaseReason[hold.releaseReason]}`;
  const isPlaced = hold.phase === HoldPhase.AUTHORIZED || hold.phase === HoldPhase.CLOSED;
  const phase = isPlaced ? '' : ` ${HoldPhase[hold.phase]}`;
  const refunded = hold.amountRefunded > 0n ? ` refunded ${hold.amountRefunded}` : '';
  return `${HoldStatus[hold.status]}${phase} ${amounts}${reason}${refunded}${hold.frozen ? ' frozen' : ''}`;
}

/** Submits the checkout page; resolves when the sandbox has reported to core. */
export async function payAt(url: string, card: Partial<typeof CARD> = {}): Promise<number> {
  return (await pay(url, card)).status;
}

/** Runs SQL on the stage's database. */
export async function sql<Row extends object>(stage: Stage, text: string, values: unknown[] = []): Promise<Row[]> {
  return (await stage.sqlPool.query(text, values)).rows as Row[];
}

const CUSTOMER = { currency: 'EUR', terminalId: 'T1', userId: 'u1' };
