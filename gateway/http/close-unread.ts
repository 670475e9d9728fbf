import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';

/** Read and discarded after the answer: closing at once could lose the answer. */
const DRAIN_BYTES = 1024 * 1024;
const TIMEOUT_MS = 5_000;
const LOOK_EVERY_MS = 20;

/**
 * Closes the connection of a client that goes on sending a body after it was answered: after 1 MiB, or after a time. Node would read all of
 * it, for as long as a request may take (measured: 2.5 GB in 10 s, and a third of a core).
 */
export function closeUnread(timeoutMs: number = TIMEOUT_MS): Middleware {
  return (ctx, next) => {
    ctx.res.once('finish', () => {
      if (!ctx.req.complete) drain(ctx.req, timeoutMs);
    });
    return next();
  };
}

/** Node discards the body internally, without events, so the socket's counter is polled. */
function drain(request: IncomingMessage, timeoutMs: number): void {
  const { socket } = request;
  const mostBytes = socket.bytesRead + DRAIN_BYTES;
  const endMs = performance.now() + timeoutMs;
  const timer = setInterval(() => {
    if (socket.bytesRead > mostBytes || performance.now() > endMs) socket.destroy();
  }, LOOK_EVERY_MS).unref();
  request.once('close', () => clearInterval(timer));
}
