import type { ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { bearerCheck } from '../../../platform/bearer-check.ts';
import { closeServer, createBoundedServer, type HttpBounds, listen } from '../../../platform/http-server.ts';
import { errorFields, type Log } from '../../../platform/log.ts';

export interface MetricsServerParts {
  readonly registry: Registry;
  readonly host: string;
  readonly port: number;
  /** The setting of the port, for the message when it cannot be used. */
  readonly setting: string;
  /** The accepted tokens, joined by commas. */
  readonly tokens: string;
  readonly isReady: () => boolean;
  readonly log: Log;
  readonly bounds?: HttpBounds;
}

/** GET /metrics (Prometheus text; needs one of the tokens), /healthz, /readyz. Rejects when the port is taken. */
export async function openMetricsServer(parts: MetricsServerParts): Promise<{ port: number; close(): Promise<void> }> {
  const isShown = bearerCheck(parts.tokens);
  const server = createBoundedServer((request, response) => {
    if (request.method !== 'GET') return end(response, 405);
    if (request.url === '/healthz') return end(response, 200, 'ok\n');
    if (request.url === '/readyz') return parts.isReady() ? end(response, 200, 'ready\n') : end(response, 503);
    if (request.url !== '/metrics') return end(response, 404);
    if (!isShown(request.headers.authorization ?? '')) return end(response, 401);
    parts.registry.metrics().then(
      (text) => end(response, 200, text, parts.registry.contentType),
      (error) => {
        parts.log.error('scrape_failed', { ...errorFields(error) });
        end(response, 500);
      },
    );
  }, parts.bounds);
  const port = await listen(server, parts.setting, parts.port, parts.host);
  return { port, close: () => closeServer(server, 0) };
}

function end(response: ServerResponse, status: number, text = '', type = 'text/plain; charset=utf-8'): void {
  const challenge = status === 401 && { 'www-authenticate': 'Bearer realm="holdfast"' };
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...challenge }).end(text);
}

/** Scrapers' own tokens, and those of operators, joined by commas. */
export function metricsTokens(settings: { METRICS_TOKEN?: string | undefined; OPERATOR_TOKEN?: string | undefined }) {
  return [settings.METRICS_TOKEN, settings.OPERATOR_TOKEN].filter(Boolean).join(',');
}
