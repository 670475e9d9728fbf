import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import Stripe from 'stripe';
import type { Settings } from '../settings.ts';

/**
 * Opens Stripe's client. It repeats nothing by itself but a request whose connection was closed, once, under the same
 * idempotency key; `ask` decides about everything else. `close` closes its connections.
 */
export function openClient(settings: Pick<Settings, 'STRIPE_API_KEY' | 'STRIPE_API_BASE' | 'STRIPE_TIMEOUT_MS'>): {
  stripe: Stripe;
  close(): void;
} {
  const { protocol, hostname, port } = new URL(settings.STRIPE_API_BASE);
  const isHttps = protocol === 'https:';
  const agent = new (isHttps ? HttpsAgent : HttpAgent)({ keepAlive: true });
  const stripe = new Stripe(settings.STRIPE_API_KEY, {
    protocol: isHttps ? 'https' : 'http',
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port || (isHttps ? 443 : 80),
    httpAgent: agent,
    timeout: settings.STRIPE_TIMEOUT_MS,
    maxNetworkRetries: 0,
    telemetry: false,
    appInfo: { name: 'holdfast' },
  });
  return { stripe, close: () => agent.destroy() };
}

/**
 * Makes sure that the key is taken and may read payments. Throws an Error of one line that names the setting when Stripe
 * rejects the key; answers false when Stripe cannot be reached, which its own outage must not turn into ours.
 */
export async function checkKey(stripe: Stripe): Promise<boolean> {
  try {
    await stripe.paymentIntents.list({ limit: 1 });
    return true;
  } catch (error) {
    if (error instanceof Stripe.errors.StripeAuthenticationError) {
      throw new Error('STRIPE_API_KEY: Stripe rejects this key');
    }
    if (error instanceof Stripe.errors.StripePermissionError) {
      throw new Error('STRIPE_API_KEY: this key may not read PaymentIntents');
    }
    return false;
  }
}
