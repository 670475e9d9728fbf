/**
 * The frame of every answer, of Koa's routes and of the relay: its name, its span, its line in the log, its metrics.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../../platform/log.ts';
import { traced, traceFields } from '../../platform/tracing.ts';

/** The header of every answer that names the HTTP request. */
export const REQUEST_ID_HEADER = 'X-Request-Id';

/** Notes about a request while it is answered. Koa's routes have them as `ctx.state`. */
export interface Exchange {
  /** The X-Request-Id. A repeated request has another one, unlike its operation's requestId. */
  readonly httpRequestId: string;
  readonly traceId?: string | undefined;
  /** The operation's. */
  requestId?: string | undefined;
  merchantId?: string | undefined;
  /** The changes of a hold: names of fields, and times. */
  changed?: string | undefined;
  /** The pattern of the matching route. Paths are never logged, because they may contain anything. */
  routeOf(): string;
}

/** Carries out an exchange: `answer` sends the answer. */
export type Exchanging = ReturnType<typeof openExchanges>;

/** An exchange that is over. */
export interface Ended {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

/**
 * Names each request and creates a span for it, in the client's trace if it sent a traceparent. When its answer is sent
 * or its client disconnects, it logs one line and calls `onEnd`.
 */
export function openExchanges(log: Log, onEnd: (ended: Ended) => void) {
  return (request: IncomingMessage, response: ServerResponse, answer: (exchange: Exchange) => Promise<void>) => {
    const startedMs = performance.now();
    // As Koa has it, until there is an answer.
    response.statusCode = 404;
    const { method = '', headers } = request;
    const parent = headers.traceparent === undefined ? null : String(headers.traceparent);
    return traced({ name: method, kind: 'SERVER', parent }, async (span) => {
      const { traceId } = traceFields();
      const exchange: Exchange = {
        httpRequestId: requestIdOf(headers['x-request-id']),
        traceId,
        routeOf: () => 'none',
      };
      response.once('close', () => {
        const durationMs = performance.now() - startedMs;
        const ended = { method, route: exchange.routeOf(), status: response.statusCode };
        log.info('request', {
          requestId: exchange.requestId,
          httpRequestId: exchange.httpRequestId,
          traceId,
          merchantId: exchange.merchantId,
          changed: exchange.changed,
          ...ended,
          durationMs: Math.round(durationMs),
          aborted: response.writableFinished ? undefined : true,
        });
        onEnd({ ...ended, durationMs });
      });
      await answer(exchange);
      span?.updateName(`${method} ${exchange.routeOf()}`);
      span?.setAttribute('http.response.status_code', response.statusCode);
    });
  };
}

/** The client's own X-Request-Id when it is a UUID; anything else may be long, secret or a card number. */
function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && UUID.test(given) ? given : randomUUID();
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
