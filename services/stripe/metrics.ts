import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, Gauge, Registry } from 'prom-client';
import type Stripe from 'stripe';
import type { Database, Statement } from '../../platform/adapter/postgres/database.ts';

/** What the metrics server needs. */
export interface Metered {
  readonly database: Database;
  readonly stripe: Stripe;
  /** Bearer token that the scraper shows. */
  readonly token: string;
}

/**
 * Answers the metrics server: `GET /metrics` (Prometheus text, with the token), `GET /healthz`, and `GET /readyz`,
 * which is 503 while the ledger cannot be read.
 */
export function serveMetrics(metered: Metered): (request: IncomingMessage, response: ServerResponse) => void {
  const registry = openRegistry(metered);
  const isShown = tokenCheck(metered.token);
  const answer = async ({ method, url, headers }: IncomingMessage): Promise<readonly [number, string]> => {
    if (method !== 'GET') return [405, ''];
    if (url === '/healthz') return [200, 'ok\n'];
    if (url === '/readyz') return (await isReadable(metered.database)) ? [200, 'ready\n'] : [503, ''];
    if (url !== '/metrics') return [404, ''];
    return isShown(headers.authorization) ? [200, await registry.metrics()] : [401, ''];
  };
  return (request, response) => {
    const end = ([status, text]: readonly [number, string]) =>
      response.writeHead(status, { 'content-type': registry.contentType, 'cache-control': 'no-store' }).end(text);
    answer(request).then(end, () => end([500, '']));
  };
}

function openRegistry({ database, stripe }: Metered): Registry {
  const registry = new Registry();
  const registers = [registry];
  const answers = new Counter({
    name: 'holdfast_stripe_answers_total',
    help: 'Answers of Stripe, by HTTP status.',
    labelNames: ['status'],
    registers,
  });
  stripe.on('response', ({ status }: Stripe.ResponseEvent) => answers.inc({ status }));
  const readBacklog = async () => (await database.query<Backlog>(BACKLOG, []))[0];
  new Gauge({
    name: 'holdfast_stripe_waiting',
    help: 'Open operations, webhooks to look at, and events that core has not taken yet.',
    labelNames: ['what'],
    registers,
    async collect() {
      const backlog = await readBacklog();
      for (const what of ['operations', 'notices', 'events'] as const) this.set({ what }, Number(backlog?.[what] ?? 0));
    },
  });
  new Gauge({
    name: 'holdfast_stripe_oldest_event_seconds',
    help: 'Age of the oldest event that core has not taken yet; 0 when there is none.',
    registers,
    async collect() {
      this.set((await readBacklog())?.oldestEventS ?? 0);
    },
  });
  return registry;
}

interface Backlog {
  readonly operations: bigint;
  readonly notices: bigint;
  readonly events: bigint;
  readonly oldestEventS: number;
}

const BACKLOG: Statement = {
  name: 'backlog',
  text: `SELECT (SELECT count(*) FROM stripe.entry WHERE stage <> 'ended' AND kind <> 'checkout') AS operations,
    (SELECT count(*) FROM stripe.notice WHERE done_at IS NULL) AS notices,
    (SELECT count(*) FROM stripe.event WHERE reported_at IS NULL) AS events,
    (SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM stripe.event
      WHERE reported_at IS NULL)
      AS "oldestEventS"`,
};

function isReadable(database: Database): Promise<boolean> {
  return database.query({ name: 'ready', text: 'SELECT FROM stripe.migration LIMIT 1' }, []).then(
    () => true,
    () => false,
  );
}

/** Compares hashes, in constant time. */
function tokenCheck(token: string): (authorization: string | undefined) => boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const expected = hash(`Bearer ${token}`);
  return (authorization = '') => timingSafeEqual(hash(authorization), expected);
}
