import { status } from '@grpc/grpc-js';
import Stripe from 'stripe';
import { RpcError } from '../../../platform/adapter/serve.ts';
import type { Context } from '../adapter-context.ts';

const known = new WeakMap<Stripe, string>();

/**
 * Names the books behind the API key: its own account, and whether it is the live or the test half of it. Asks Stripe
 * once. Throws RpcError when Stripe does not answer, or the key may not read its account.
 */
export async function identityOf({ stripe, mode }: Pick<Context, 'stripe' | 'mode'>): Promise<string> {
  const kept = known.get(stripe);
  if (kept !== undefined) return kept;
  try {
    const { id } = await stripe.accounts.retrieveCurrent();
    const identity = `${id} ${mode}`;
    known.set(stripe, identity);
    return identity;
  } catch (error) {
    const isRefused = error instanceof Stripe.errors.StripePermissionError;
    const text = isRefused ? 'STRIPE_API_KEY may not read its account' : 'Stripe does not answer';
    throw new RpcError(isRefused ? status.FAILED_PRECONDITION : status.UNAVAILABLE, text, 'unknown');
  }
}
