import { drawId } from '../../platform/draw-id.ts';
import type { Kit } from './kit.ts';
import type { Feature, Profile } from './profile.ts';
import { capture, decrease, extension, increment, type Request, refund, renewal, voiding } from './requests.ts';

/** A kind of operation, as the checks that are the same for all of them see it. */
export interface Kind {
  readonly name:
    | 'authorization'
    | 'renewal'
    | 'capture'
    | 'void'
    | 'increment'
    | 'decrease'
    | 'extension'
    | 'refund'
    | 'credit';
  /** Absent: every processor can do it. */
  readonly feature?: Feature;
  /** Does what it needs (a hold, a capture) with a token; answers a request that was not sent yet. */
  readonly prepare: (kit: Kit, tokenId?: string) => Promise<Request>;
}

/** How an operation may go otherwise than well. */
export type Way = keyof Profile['tokens']['capture'];

/** Every kind. */
export const KINDS: readonly Kind[] = [
  { name: 'authorization', prepare: async (kit, token) => kit.authorization(token) },
  {
    name: 'renewal',
    feature: 'renewals',
    prepare: async (kit, token) => renewal(await kit.placed(), token),
  },
  { name: 'capture', prepare: async (kit, token) => capture(await kit.placed(token), kit.tenth) },
  { name: 'void', prepare: async (kit, token) => voiding(await kit.placed(token)) },
  {
    name: 'increment',
    feature: 'increments',
    prepare: async (kit, token) => increment(await kit.placed(token), kit.tenth),
  },
  {
    name: 'decrease',
    feature: 'partialRelease',
    prepare: async (kit, token) => decrease(await kit.placed(token), kit.tenth),
  },
  { name: 'extension', feature: 'extension', prepare: async (kit, token) => extension(await kit.placed(token)) },
  {
    name: 'refund',
    feature: 'refunds',
    prepare: async (kit, token) => refund((await kit.captured(token)).capture, kit.tenth / 2n),
  },
  {
    name: 'credit',
    feature: 'credits',
    prepare: async (kit, token) => ({ ...kit.authorization(token), method: 'credit', amount: kit.tenth }),
  },
];

/** Whether the processor can do such operations. */
export function isSupported({ feature }: Kind, kit: Kit): boolean {
  return feature === undefined || kit.can(feature);
}

/** Requests under the same identifier that ask something else, by what differs. */
export async function others(kit: Kit, request: Request): Promise<ReadonlyMap<string, Request>> {
  const { otherMerchantId, otherAccount, otherCurrency } = kit.profile;
  const { account, amount, currency, authorizationRequestId, captureRequestId, finalCapture } = request;
  const differing = new Map<string, Request>([['merchant', { ...request, merchantId: otherMerchantId }]]);
  // An empty account says nothing: then there is none to differ from.
  if (account !== '' && otherAccount !== undefined) differing.set('account', { ...request, account: otherAccount });
  if (amount !== undefined) differing.set('amount', { ...request, amount: amount - 1n });
  if (currency !== undefined) differing.set('currency', { ...request, currency: otherCurrency });
  if (authorizationRequestId !== undefined) {
    const { requestId } = await kit.placed();
    differing.set('authorization', { ...request, authorizationRequestId: requestId });
  }
  if (request.method === 'authorize' && kit.can('renewals')) {
    const { requestId } = await kit.placed();
    differing.set('renews', { ...request, renews: requestId });
  }
  if (captureRequestId !== undefined) differing.set('capture', { ...request, captureRequestId: drawId() });
  if (finalCapture !== undefined) differing.set('final_capture', { ...request, finalCapture: !finalCapture });
  return differing;
}
