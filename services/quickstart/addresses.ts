/** Where the processes are reached. */
import type { Ports } from './ports.ts';

/** Where the gateway is reached. */
export function baseUrl(ports: Ports): string {
  return `http://127.0.0.1:${ports.PORT}`;
}

/** Where the adapter to Stripe serves the processor contract, and where Stripe's webhooks go. */
export function stripeAddresses({ STRIPE_PORT, STRIPE_WEBHOOK_PORT }: Ports) {
  return {
    processorUrl: `127.0.0.1:${STRIPE_PORT}`,
    webhookUrl: `http://127.0.0.1:${STRIPE_WEBHOOK_PORT}/webhook/stripe`,
  };
}

/** grpc-js target of core. */
export function coreUrl(ports: Ports): string {
  return `127.0.0.1:${ports.CORE_PORT}`;
}

/** Where the demo merchant is reached. */
export function demoMerchantUrl(ports: Ports): string {
  return `http://127.0.0.1:${ports.MERCHANT_PORT}`;
}
