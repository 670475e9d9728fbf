import type { Context } from 'koa';

/**
 * Sees to it that a sender who was refused before its body was read does not go on sending it for ever. The connection
 * is not closed at once: what the sender has under way would then cost it our answer.
 */
export function closeUnread(
  answer: (ctx: Context) => Promise<void>,
  timeoutMs: number,
): (ctx: Context) => Promise<void> {
  return async (ctx) => {
    try {
      await answer(ctx);
    } catch (error) {
      const { req } = ctx;
      if (!req.complete) {
        const timer = setTimeout(() => req.socket.destroy(), timeoutMs).unref();
        req.once('close', () => clearTimeout(timer));
      }
      throw error;
    }
  };
}
