import { Counter, Gauge, Registry } from 'prom-client';
import { bearerCheck } from '../../bearer-check.ts';
import type { Pages } from '../webhook-server.ts';
import type { Database } from './database.ts';
import { OPEN } from './tables.ts';

/** The metrics of an adapter, `holdfast_<name>_…`. */
interface AdapterMetrics {
  readonly registry: Registry;
  /** Counts an answer of the processor by its HTTP status. */
  countAnswer(status: number): void;
}

/** Opens the metrics of an adapter's ledger. */
export function openMetrics(database: Database, name: string): AdapterMetrics {
  const registry = new Registry();
  const registers = [registry];
  const answers = new Counter({
    name: `holdfast_${name}_answers_total`,
    help: 'Answers of the processor, by HTTP status.',
    labelNames: ['status'],
    registers,
  });
  const readBacklog = async () => (await database.query<Backlog>(BACKLOG))[0];
  new Gauge({
    name: `holdfast_${name}_waiting`,
    help: 'Operations without a result, webhooks to deal with, and events that core has not taken yet.',
    labelNames: ['what'],
    registers,
    async collect() {
      const backlog = await readBacklog();
      for (const what of ['operations', 'notices', 'events'] as const) this.set({ what }, Number(backlog?.[what] ?? 0));
    },
  });
  new Gauge({
    name: `holdfast_${name}_oldest_event_seconds`,
    help: 'Age of the oldest event that core has not taken yet; 0 when there is none.',
    registers,
    async collect() {
      this.set((await readBacklog())?.oldestEventS ?? 0);
    },
  });
  return { registry, countAnswer: (status) => answers.inc({ status }) };
}

/** `GET /metrics`: Prometheus text, with the token. */
export function metricsPage({ registry }: AdapterMetrics, token: string): Pages[string] {
  const isShown = bearerCheck(token);
  const headers = { 'content-type': registry.contentType };
  return async ({ authorization = '' }) => (isShown(authorization) ? [200, await registry.metrics(), headers] : [401]);
}

interface Backlog {
  readonly operations: bigint;
  readonly notices: bigint;
  readonly events: bigint;
  readonly oldestEventS: number;
}

const BACKLOG = `SELECT (SELECT count(*) FROM entry WHERE ${OPEN} AND kind <> 'checkout') AS operations,
    (SELECT count(*) FROM inbox WHERE done_at IS NULL) AS notices,
    (SELECT count(*) FROM event WHERE reported_at IS NULL) AS events,
    (SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM event
      WHERE reported_at IS NULL) AS "oldestEventS"`;
