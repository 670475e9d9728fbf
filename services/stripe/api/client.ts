import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { status } from '@grpc/grpc-js';
import Stripe from 'stripe';
import { RpcError } from '../../../platform/adapter/serve.ts';
import type { Context } from '../adapter-context.ts';
import type { Settings } from '../settings.ts';

/**
 * The version of Stripe's API that this adapter was written against; without one the account's own would count. Before
 * 2025-03-31 what a partial capture left became a Refund, which the adapter would report as a reversal of the capture.
 * Read Stripe's changelog before it is raised; the types of another version of the package do not take it.
 */
export const API_VERSION = '2026-10-28.endive';

/** Opens Stripe's client. It repeats nothing by itself: `ask` decides that. `close` closes its connections. */
export function openClient(settings: Pick<Settings, 'STRIPE_API_KEY' | 'STRIPE_API_BASE' | 'STRIPE_TIMEOUT_MS'>): {
  stripe: Stripe;
  close(): void;
} {
  const { protocol, hostname, port } = new URL(settings.STRIPE_API_BASE);
  const isHttps = protocol === 'https:';
  const agent = new (isHttps ? HttpsAgent : HttpAgent)({ keepAlive: true });
  const stripe = new Stripe(settings.STRIPE_API_KEY, {
    apiVersion: API_VERSION,
    protocol: isHttps ? 'https' : 'http',
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port || (isHttps ? 443 : 80),
    httpClient: guarded(Stripe.createNodeHttpClient(agent)),
    timeout: settings.STRIPE_TIMEOUT_MS,
    maxNetworkRetries: 0,
    telemetry: false,
    appInfo: { name: 'holdfast' },
  });
  return { stripe, close: () => agent.destroy() };
}

/**
 * Stripe's client repeats a request whose connection was closed once, even with maxNetworkRetries 0 (`_shouldRetry` in
 * its RequestSender), and only the second answer is seen. It decides by the error's code, so the error is passed on
 * without one. It also takes any JSON without an `error` for what was asked for, whatever the status: one that is not
 * Stripe's, whose errors have `error` and whose objects have `object`, is passed on as an answer that cannot be read.
 */
function guarded(client: Stripe.HttpClient): Stripe.HttpClient {
  return {
    getClientName: () => client.getClientName(),
    async makeRequest(...request) {
      try {
        const response = await client.makeRequest(...request);
        const status = response.getStatusCode();
        const read = response.toJSON.bind(response);
        response.toJSON = async () => {
          const body = await read();
          const isOfStripe = status >= 200 && status < 300 ? body?.object : body?.error;
          if (!isOfStripe) throw new Error(`${status} is not answered by Stripe`);
          return body;
        };
        return response;
      } catch (cause) {
        const isTimeout = (cause as NodeJS.ErrnoException).code === Stripe.HttpClient.TIMEOUT_ERROR_CODE;
        throw isTimeout ? cause : new Error('the connection to Stripe failed', { cause });
      }
    },
  };
}

/**
 * Makes sure that the key is taken and may read payments. Throws an Error of one line that names the setting when
 * Stripe rejects the key; answers false when Stripe cannot be reached, which its own outage must not turn into ours.
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
