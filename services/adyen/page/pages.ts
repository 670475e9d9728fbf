/** Every page for customers whose issuer authenticates them. */
import { type Html, html } from '../../../platform/html.ts';
import { formatAmount, timeOfDay } from '../../../platform/page-text.ts';
import { withRequestId } from '../../../platform/return-url.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Action, Entry } from '../ledger/entry.ts';
import { isStepUp } from '../settlement/step-up.ts';

/** Where a page leads the customer: back to the merchant, with core's name of the hold. */
export function wayBack({ returnUrl, operationRequestId, requestId }: Entry): string {
  return withRequestId(returnUrl, operationRequestId || requestId);
}

const amountOf = ({ amount, currency }: Entry) => formatAmount(amount, currency);
const hostOf = ({ returnUrl }: Entry) => new URL(returnUrl).host;

/** What the page's script fills in. */
const FIELDS = ['colorDepth', 'javaEnabled', 'language', 'screenHeight', 'screenWidth', 'timeZoneOffset'];

/** How an authorization stands, as an HTTP status and a page. */
export function standingOf(entry: Entry, now: Date): readonly [httpStatus: number, page: string] {
  const { stage, answer, pageEndsAt } = entry;
  if (!isStepUp(entry)) return [answer === Answer.NOT_PERFORMED ? 410 : 200, endPage(entry)];
  if (stage === 'page' && pageEndsAt !== null && pageEndsAt <= now) return [410, messagePage(CLOSED, entry)];
  if (stage === 'page' || stage === 'redirected') return [200, startPage(entry)];
  return [200, messagePage(stage === 'sent' ? UNANSWERED : UNDECIDED, entry)];
}

/** The page before the issuer's: what is asked, what happens next, and the form with what the browser says. */
function startPage(entry: Entry): string {
  const { merchantId, merchantReference, stage, pageEndsAt } = entry;
  const amount = amountOf(entry);
  const isFirst = stage === 'page';
  const main = html`<h1>Confirm ${amount} with your bank</h1>
      <p>${merchantId} asks to reserve this amount on your saved card. Nothing is charged now.</p>
      ${merchantReference && html`<dl><dt>Order</dt><dd>${merchantReference}</dd></dl>`}
      <p>Your bank may ask you to confirm it. After that you return to ${hostOf(entry)}.</p>
      <form method="post" ${isFirst ? html`data-browser` : ''}>
        ${FIELDS.map((name) => html`<input type="hidden" name="${name}">`)}
        <button type="submit" ${isFirst ? html`disabled` : ''}>Continue to your bank</button>
      </form>
      ${isFirst ? html`<noscript><p role="alert">Turn JavaScript on to continue.</p></noscript>` : ''}
      <p><a href="${wayBack(entry)}">Return to ${hostOf(entry)} without confirming</a></p>
      <p class="quiet">Your bank is told your browser&#39;s language, time zone, screen size and address.</p>
      ${isFirst && pageEndsAt ? html`<p class="quiet">This page closes at ${timeOfDay(pageEndsAt.getTime())}.</p>` : ''}`;
  return page(`Confirm with your bank · ${merchantId}`, main);
}

/** A form that the page's script posts to where Adyen sends the customer. */
export function forwardPage({ url, data }: Action): string {
  const fields = Object.entries(data).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const main = html`<h1>To your bank</h1>
      <p>You are sent to your bank. If nothing happens, continue there yourself.</p>
      <form method="post" action="${url}" data-forward>
        ${fields}
        <button type="submit">Continue to your bank</button>
      </form>`;
  return page('To your bank', main);
}

/** What a page of text says. */
export type Message = readonly [title: string, text: string];

/** How an authorization ended. */
function endPage(entry: Entry): string {
  const amount = amountOf(entry);
  const reserved: Message = ['Reserved', `${amount} is reserved for ${entry.merchantId}. Nothing is charged now.`];
  if (entry.answer === Answer.APPROVED) return messagePage(reserved, entry);
  // A bank that was asked may still say yes.
  const money = entry.stage === 'page' ? NOTHING : 'If your bank reserves the amount all the same, it is given back.';
  if (entry.errorCode === 'authentication_expired') return messagePage(['Page closed', `${OVER} ${money}`], entry);
  if (entry.errorCode === 'authentication_cancelled') {
    return messagePage(['Cancelled', `The merchant cancelled this payment. ${money}`], entry);
  }
  return messagePage(['Not reserved', `${WHY[entry.errorCode] ?? WHY[entry.answer]} ${NOTHING}`], entry);
}

const NOTHING = 'Nothing was reserved.';
const OVER = 'The time to confirm is over.';

/** Why nothing was reserved: by an error code, or else by the answer. */
const WHY: Readonly<Record<string, string>> = {
  authentication_failed: 'Your bank did not authenticate you.',
  [Answer.DECLINED]: 'Your bank did not allow it.',
  [Answer.NOT_PERFORMED]: 'The card processor could not do it.',
};

const CLOSED: Message = ['Page closed', `${OVER} ${NOTHING}`];
const UNANSWERED: Message = [
  'No answer yet',
  'The card processor has not answered. Open this page again in a moment; nothing is reserved twice.',
];
const UNDECIDED: Message = [
  'No result yet',
  'The card processor has not said yet whether the amount is reserved. The merchant will know.',
];

/** A page of text, with the way back to the merchant when it is known. */
export function messagePage([title, text]: Message, entry?: Entry): string {
  const onwards = entry && html`<p><a class="button" href="${wayBack(entry)}">Return to ${hostOf(entry)}</a></p>`;
  return page(
    title,
    html`<h1>${title}</h1>
      <p>${text}</p>
      ${onwards}`,
  );
}

function page(title: string, main: Html): string {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="stylesheet" href="/step-up/page.css">
    <script src="/step-up/page.js" type="module"></script>
  </head>
  <body>
    <main>
      ${main}
    </main>
  </body>
</html>
`.text;
}
