import type { HandlerContext } from '@connectrpc/connect';
import { HoldfastError } from '../../domain/refusal.ts';
import type { Core } from '../core.ts';
import type { SigningTerms } from '../merchant/contract-columns.ts';
import { roleOf } from './caller.ts';

const WORDS: Readonly<Record<keyof SigningTerms, string>> = {
  requireSignedCaptures: 'captures',
  requireSignedOcts: 'OCTs',
  requireSignedRefunds: 'refunds',
};

/**
 * Refuses an operation that the merchant's contract wants signed, from an internal service: the gateway has verified
 * the merchant's signature, and operators are audited. Throws SIGNATURE_REQUIRED.
 */
export async function refuseUnsigned(
  core: Core,
  context: HandlerContext,
  term: keyof SigningTerms,
  merchantId: string | undefined,
): Promise<void> {
  if (roleOf(context) !== 'internal' || merchantId === undefined) return;
  const contract = await core.contracts.find(merchantId);
  if (!contract?.[term]) return;
  const message = `this merchant's ${WORDS[term]} must come signed, through the gateway`;
  throw new HoldfastError('SIGNATURE_REQUIRED', message);
}
