/**
 * A customer at the sandbox's checkout page, without a browser: submits its form with a card. Returns the address to
 * which the page redirects the customer, if any.
 */
export async function payAtCheckout(checkoutUrl: string, cardNumber: string): Promise<string | undefined> {
  const page = await (await fetch(checkoutUrl)).text();
  const formToken = /name="formToken" value="([^"]*)"/.exec(page)?.[1];
  if (formToken === undefined) throw new Error('the checkout page has no form');
  const body = new URLSearchParams({ formToken, number: cardNumber, expiry: '08/39', cvc: '123' });
  const response = await fetch(checkoutUrl, { method: 'POST', body, redirect: 'manual' });
  await response.arrayBuffer();
  return response.headers.get('location') ?? undefined;
}
