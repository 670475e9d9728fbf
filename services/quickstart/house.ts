import type { Ports } from './ports.ts';
import type { Secrets } from './secrets.ts';
import type { QuickstartSettings } from './settings.ts';

/** What the settings of the processes are made from. */
export interface House {
  readonly settings: QuickstartSettings;
  readonly dataDir: string;
  readonly ports: Ports;
  readonly secrets: Secrets;
}

/** Where the processes are reached. */
export function addressesOf(ports: Ports) {
  const baseUrl = `http://127.0.0.1:${ports.PORT}`;
  return {
    /** The gateway. */
    baseUrl,
    consoleUrl: `${baseUrl}/console`,
    /** grpc-js target, host:port. */
    coreUrl: `127.0.0.1:${ports.CORE_PORT}`,
    connectUrl: `http://127.0.0.1:${ports.CONNECT_PORT}`,
    demoMerchantUrl: `http://127.0.0.1:${ports.MERCHANT_PORT}`,
    /** Prometheus text, for the operator token. The gateway's is at /metrics of its own address. */
    metricsUrls: {
      core: `http://127.0.0.1:${ports.CORE_METRICS_PORT}/metrics`,
      worker: `http://127.0.0.1:${ports.WORKER_METRICS_PORT}/metrics`,
    },
    /** The adapter to Stripe: a grpc-js target, and where Stripe's events go. */
    stripe: {
      processorUrl: `127.0.0.1:${ports.STRIPE_PORT}`,
      webhookUrl: `http://127.0.0.1:${ports.STRIPE_WEBHOOK_PORT}/webhook/stripe`,
    },
  };
}
