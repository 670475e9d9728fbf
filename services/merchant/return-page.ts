/** Where the checkout sends the customer back to. */
import type { Context } from 'koa';

/** A page that names the operation. The name proves nothing: a real merchant asks Holdfast what became of it. */
export function returnPage(ctx: Context): void {
  const { requestId } = ctx.query;
  const named = typeof requestId === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(requestId) ? requestId : 'unknown';
  ctx.set('cache-control', 'no-store');
  ctx.set('referrer-policy', 'no-referrer');
  ctx.set('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  ctx.type = 'html';
  ctx.body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Back at the demo merchant</title>
<h1>Thank you</h1>
<p>You are back at the demo merchant. Operation: <code>${named}</code>.</p>
<p>Coming back proves nothing; the shop now asks Holdfast: <code>GET /preauthorization/${named}</code>.</p>
</html>
`;
}
