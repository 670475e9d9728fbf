/** What the page says before its routes: how to begin, and what holds for all of them. */
import { type Html, html } from './html.ts';

/** The guides that the gateway serves beside the page, and what each is about. */
export const GUIDES: Readonly<Record<string, string>> = {
  'merchants.md':
    'Making a merchant, its keys and its addresses; looking after a webhook; testing a receiver on a laptop',
  'verify-webhooks.md': 'Verifying notifications, in Node, Python, PHP and the shell',
  'signed-captures.md': 'Signing captures, for merchants whose contract demands it',
};

/** Stands in the page for the gateway's own address. */
export const PLACEHOLDER = 'https://holdfast.example';

/** The part above the routes. */
export function introduction(): Html {
  return html`<section id="begin"><h2>Begin</h2>
<h3 id="authentication">Authentication</h3>
<p>A merchant sends its API key with each request, in a header and nowhere else; the key decides the merchant. An operator sends the operator token in the same way.</p>
<pre tabindex="0">Authorization: Bearer &lt;API key&gt;</pre>
<p>The samples below take the gateway's address and the credentials from the shell:</p>
<pre tabindex="0">BASE=${PLACEHOLDER}
API_KEY=hf_…            # merchants: shown once, when the merchant or the key is made
OPERATOR_TOKEN=…        # operators: the gateway's setting of that name</pre>
<h3 id="amounts">Amounts</h3>
<p>Amounts are whole numbers of minor units, with an ISO 4217 currency: <code>"amount": 1050, "currency": "EUR"</code> is 10.50 EUR, and <code>1050</code> with <code>JPY</code> is 1050 yen, which has no minor unit. A fraction, an exponent or a string is refused.</p>
<p>The relay alone is different, because it takes what others send: there an amount is whatever its sender wrote and signed, such as <code>10.50</code> or <code>"1050"</code>, and it is forwarded and shown character for character. Ask the sender which unit it means. What Holdfast itself sends is in minor units.</p>
<h3 id="repeating">Repeating a request</h3>
<p>Send an <code>Idempotency-Key</code> with each POST that makes an operation: the same key with the same body gets the first answer again, so a repetition charges nothing twice. Without one, do as the answer says: 202 means ask again with GET, and 408, 429 and 503 mean that nothing happened and that the request may be sent again.</p>
<h3 id="request-id">Asking for help</h3>
<p>Every answer carries <code>X-Request-Id</code>, which names that request in the log; name it when you ask. The <code>requestId</code> in a body names the operation.</p>
<h3 id="guides">Guides</h3>
<ul>${Object.entries(GUIDES).map(([file, about]) => html`<li><a href="/docs/${file}">${about}</a></li>`)}</ul></section>`;
}
