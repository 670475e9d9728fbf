import { v7 as uuidv7 } from 'uuid';
import type { DescribeResponse } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import {
  authorization,
  capture,
  captured,
  credit,
  extension,
  increment,
  type Kit,
  type Method,
  placed,
  type Request,
  refund,
  tenth,
  voiding,
} from './kit.ts';
import type { Profile } from './profile.ts';

/** A kind of operation, as the checks that are the same for all of them see it. */
export interface Kind {
  readonly name: 'authorization' | 'capture' | 'void' | 'increment' | 'extension' | 'refund' | 'credit';
  readonly method: Method;
  readonly isSupported: (description: DescribeResponse) => boolean;
  /** Does what it needs (a hold, a capture) with a token; answers a request that was not sent yet. */
  readonly prepare: (kit: Kit, tokenId?: string) => Promise<Request>;
}

const kind = (
  name: Kind['name'],
  method: Method,
  prepare: Kind['prepare'],
  isSupported: Kind['isSupported'] = () => true,
): Kind => ({ name, method, prepare, isSupported });

const can = (ability: 'increments' | 'extension' | 'refunds') => (description: DescribeResponse) =>
  description.authorizations?.[ability] === true;

/** Every kind. */
export const KINDS: readonly Kind[] = [
  kind('authorization', 'authorize', async (kit, token) => authorization(kit, token)),
  kind('capture', 'capture', async (kit, token) => capture(await placed(kit, token), tenth(kit))),
  kind('void', 'void', async (kit, token) => voiding(await placed(kit, token))),
  kind(
    'increment',
    'incrementAuthorization',
    async (kit, token) => increment(await placed(kit, token), tenth(kit)),
    can('increments'),
  ),
  kind('extension', 'extendAuthorization', async (kit, token) => extension(await placed(kit, token)), can('extension')),
  kind(
    'refund',
    'refund',
    async (kit, token) => refund((await captured(kit, token)).capture, tenth(kit) / 2n),
    can('refunds'),
  ),
  kind(
    'credit',
    'credit',
    async (kit, token) => credit(kit, token),
    ({ credits }) => credits,
  ),
];

/** Requests under the same identifier that ask something else, by what differs. */
export async function others(kit: Kit, request: Request): Promise<ReadonlyMap<string, Request>> {
  const differing = new Map<string, Request>([['merchant', { ...request, merchantId: kit.profile.otherMerchantId }]]);
  // An empty account says nothing: then there is none to differ from.
  const { otherAccount: account } = kit.profile;
  if (request.account !== '' && account !== undefined) differing.set('account', { ...request, account });
  if (request.amount !== undefined) differing.set('amount', { ...request, amount: request.amount - 1n });
  if (request.currency !== undefined) differing.set('currency', { ...request, currency: kit.profile.otherCurrency });
  if (request.authorizationRequestId !== undefined) {
    const { requestId: authorizationRequestId } = await placed(kit);
    differing.set('authorization', { ...request, authorizationRequestId });
  }
  if (request.captureRequestId !== undefined) differing.set('capture', { ...request, captureRequestId: uuidv7() });
  if (request.finalCapture !== undefined)
    differing.set('final_capture', { ...request, finalCapture: !request.finalCapture });
  return differing;
}

export type Way = keyof Profile['tokens']['capture'];
