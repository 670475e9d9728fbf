import { randomBytes } from 'node:crypto';
import type { HoldFields } from '../books/settle-holds-and-octs.ts';
import { type Cipher, hashOf } from '../cipher.ts';
import { identifierOf, isOk } from '../domain/operation.ts';
import type { RefusedCheckout } from '../processor/processor.ts';
import { storeCheckout } from '../storage/hold/change-hold.ts';
import type { HoldRow } from '../storage/hold/hold.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { findMerchant } from '../storage/merchant/merchant.ts';
import { end } from './end.ts';
import type { Asker, Kind, Named } from './kind.ts';
import { voidLate } from './release.ts';

/** What placing a hold depends on. */
export type HoldFacts = HoldFields &
  Named & {
    readonly tokenId?: string | null | undefined;
    readonly merchantReference?: string | null | undefined;
  };

/** Holds: placing them, by a token or on a checkout page. */
export const HOLD: Kind<HoldFacts, true> = {
  table: 'hold',
  operationOf: () => 'HOLD',
  holdOf: ({ requestId }) => requestId,
  find: findHold,
  call(processor, { tokenId, processorAccount: account, ...hold }) {
    const { merchantId, terminalId, userId, amount, currency } = hold;
    return processor.send('authorize', {
      requestId: identifierOf(hold),
      merchantId,
      account,
      terminalId,
      userId,
      tokenId: tokenId ?? '',
      amount,
      currency,
      merchantReference: hold.merchantReference ?? '',
    });
  },
  settle: ({ books }, hold, outcome, at) => books.settleHold({ hold, outcome, at }),

  /** Nobody counts on the authorization of a hold that has failed: it is given back. */
  async handleLate(settlement, { requestId }, outcome) {
    const hold = await findHold(settlement.database.query, requestId);
    if (hold?.phase !== 'FAILED') return false;
    if (isOk(outcome)) await voidLate(settlement, requestId);
    return true;
  },

  /** A checkout whose page is not known gets it; one whose page is known is left to its end. */
  async recover(asker, { requestId }) {
    const hold = await findHold(asker.database.query, requestId);
    if (hold?.phase !== 'AWAITING_CHECKOUT') return 'INQUIRE';
    const end = hold.checkoutExpiresAt ?? hold.createdAt;
    if (hold.checkoutUrlCiphertext != null) return end;
    const merchant = await findMerchant(asker.database, hold.merchantId);
    return (await openPage(asker, hold, merchant?.name ?? '')) ? 'DONE' : end;
  },
};

/** A new preauthorizationId of a hold, and the columns that keep it, hexadecimal (docs/product.md, "Money, identifiers, time"). */
export function newHandle(cipher: Cipher, requestId: string) {
  const preauthorizationId = `pre_${randomBytes(24).toString('base64url')}`;
  return {
    preauthorizationId,
    idHash: hashOf(preauthorizationId).toString('hex'),
    idCiphertext: cipher.seal(preauthorizationId, `preauthorization:${requestId}`).toString('hex'),
  };
}

/**
 * Opens the hosted page of a stored hold and stores its address. The processor returns the same page for the same hold, so after a
 * lost answer the call is repeated. Resolves with the hold as it is then, or with the refusal that has ended it; undefined = the
 * processor did not answer.
 */
export async function openPage(
  asker: Asker,
  hold: HoldRow,
  merchantName: string,
): Promise<HoldRow | RefusedCheckout | undefined> {
  const { requestId, merchantId, terminalId, userId, amount, currency, saveCard, processorAccount: account } = hold;
  const checkout = await asker.processors.of(hold).createCheckout({
    ...{ requestId, merchantId, account, terminalId, userId, amount, currency, saveCard, merchantName },
    merchantReference: hold.merchantReference ?? '',
    returnUrl: hold.returnUrl ?? '',
    expiresAt: hold.checkoutExpiresAt ?? hold.createdAt,
  });
  asker.reach('checkout opened');
  if (!checkout) return undefined;
  if ('refusal' in checkout) {
    await end(asker, HOLD, hold, checkout.refusal);
    return checkout;
  }
  const { url, expiresAt } = checkout;
  const sealed = asker.cipher.seal(url, `checkout:${requestId}`);
  await storeCheckout(asker.database.query, requestId, sealed, expiresAt);
  return { ...hold, checkoutUrlCiphertext: sealed, checkoutExpiresAt: expiresAt };
}
