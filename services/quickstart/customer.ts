/** A customer at a page of the sandbox, without a browser. Both return the address to which the page leads, if any. */

/** Submits the form of a checkout with a card. */
export function payAtCheckout(checkoutUrl: string, cardNumber: string): Promise<string | undefined> {
  return submit(checkoutUrl, () => ({ number: cardNumber, expiry: '08/39', cvc: '123' }));
}

/** Confirms on the page of the card's issuer, or refuses. */
export function answerIssuer(url: string, action: 'pass' | 'fail'): Promise<string | undefined> {
  return submit(url, (page) => ({ challenge: /name="challenge" value="([^"]*)"/.exec(page)?.[1] ?? '', action }));
}

async function submit(url: string, fieldsOf: (page: string) => Record<string, string>): Promise<string | undefined> {
  const page = await (await fetch(url)).text();
  const formToken = /name="formToken" value="([^"]*)"/.exec(page)?.[1];
  if (formToken === undefined) throw new Error('the page has no form');
  const body = new URLSearchParams({ formToken, ...fieldsOf(page) });
  const response = await fetch(url, { method: 'POST', body, redirect: 'manual' });
  await response.arrayBuffer();
  return response.headers.get('location') ?? undefined;
}
