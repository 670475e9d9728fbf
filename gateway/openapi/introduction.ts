/** The text before the routes of the page: first steps, and rules of all routes. */
import { type Html, html } from '../../platform/html.ts';
import { REFUSALS_PATH } from '../http/refusals.ts';
import type { Audience } from './document.ts';

/** The guides that the gateway serves beside the page, and what each is about. */
export const GUIDES: Readonly<Record<string, string>> = {
  'merchants.md':
    'Making a merchant, its keys and its addresses; looking after a webhook; testing a receiver on a laptop',
  'verify-webhooks.md': 'Verifying notifications, in Node, Python, PHP and the shell',
  'signed-captures.md': 'Signing captures, payouts and refunds, for merchants whose contract demands it',
};

/** Stands in the commands for the gateway's own address. */
export const PLACEHOLDER = 'https://holdfast.example';

/** The first lesson: a hold, placed, captured and looked at. Its commands can be pasted. */
export function lesson(): Html {
  return html`<section id="lesson"><h2>Your first hold</h2>
<p>Whoever runs this gateway gives you an API key, and names your terminals (<a href="/docs/merchants.md">guide</a>).
<code>tok_sandbox_ok</code> is a card of the sandbox.</p>
<pre tabindex="0">API_KEY=hf_…
TERMINAL=till-1</pre>
<h3 id="lesson-place">1. Hold 42.00 EUR on the card</h3>
${command(`curl "${PLACEHOLDER}/preauthorization" \\
  -H "Authorization: Bearer $API_KEY" -H 'Idempotency-Key: order-1001' \\
  -H 'Content-Type: application/json' -d '{"tokenId": "tok_sandbox_ok",
  "amount": 4200, "currency": "EUR", "terminalId": "'$TERMINAL'", "userId": "customer-7"}'`)}
<p>The <code>preauthorizationId</code> in the answer captures the hold: keep it like a password. The
<code>requestId</code> names the hold, and is no secret.</p>
<pre tabindex="0">PREAUTHORIZATION_ID=pre_…
REQUEST_ID=…</pre>
<h3 id="lesson-capture">2. Charge 35.00 EUR of it, and give the rest back</h3>
${command(`curl "${PLACEHOLDER}/preauthorization/authorization" \\
  -H "Authorization: Bearer $API_KEY" -H 'Idempotency-Key: order-1001-shipped' \\
  -H 'Content-Type: application/json' \\
  -d '{"preauthorizationId": "'$PREAUTHORIZATION_ID'", "amountToCapture": 3500, "finalCapture": true}'`)}
<h3 id="lesson-look">3. Look at it</h3>
${command(`curl "${PLACEHOLDER}/preauthorization/$REQUEST_ID" \\
  -H "Authorization: Bearer $API_KEY"`)}
<p>An answer of 202 says that the outcome is not known yet: ask with GET, and do not send it again under another key.
Each result is also sent to your webhook, signed: <a href="/docs/verify-webhooks.md">verify it</a>.</p></section>`;
}

function command(text: string): Html {
  return html`<pre tabindex="0" class="curl">${text}</pre>`;
}

/** The rules of all routes, or of the merchants'. */
export function introduction(audience: Audience): Html {
  const ofOperators = audience === 'all';
  return html`<section id="begin"><h2>Basics</h2>
<h3 id="authentication">Authentication</h3>
<p>A merchant sends its API key with each request, in a header and nowhere else; the key decides the merchant.
${ofOperators ? 'An operator sends the operator token in the same way.' : undefined}</p>
<pre tabindex="0">Authorization: Bearer &lt;API key&gt;</pre>
<p>The samples take it from <code>API_KEY</code> of the shell${
    ofOperators
      ? html`, and the operator token, as the gateway has it in its settings, from <code>OPERATOR_TOKEN</code>`
      : undefined
  }.</p>
<h3 id="amounts">Amounts</h3>
<p>Amounts are whole numbers of minor units, with an ISO 4217 currency: <code>"amount": 1050, "currency": "EUR"</code>
is 10.50 EUR, and <code>1050</code> with <code>JPY</code> is 1050 yen, which has no minor unit. A fraction, an
exponent or a string is refused.</p>
<p>The relay alone is different, because it takes what others send: there an amount is whatever its sender wrote and
signed, such as <code>10.50</code> or <code>"1050"</code>, and it is forwarded and shown character for character. Ask
the sender which unit it means. What Holdfast itself sends is in minor units.</p>
<h3 id="repeating">Repeating a request</h3>
<p>Send an <code>Idempotency-Key</code> with each POST that makes an operation: the same key with the same body gets
the first answer again, so a repetition charges nothing twice. Without one, do as the answer says: 202 means ask again
with GET, and 408, 429 and 503 mean that nothing happened and that the request may be sent again.</p>
<h3 id="refusals">Refusals</h3>
<p>A refusal is <code>application/problem+json</code> (RFC 9457) with a <code>code</code>. Its <code>type</code> leads
to <a href="${REFUSALS_PATH}">what it means</a>, what to do, and whether to repeat the request.</p>
<h3 id="request-id">Asking for help</h3>
<p>Every answer carries <code>X-Request-Id</code>, which names that request in the log; name it when you ask. The
<code>requestId</code> in a body names the operation.</p>
<h3 id="guides">Guides</h3>
<ul>${Object.entries(GUIDES).map(([file, about]) => html`<li><a href="/docs/${file}">${about}</a></li>`)}</ul>
</section>`;
}
