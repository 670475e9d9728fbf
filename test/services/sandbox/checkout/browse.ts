import assert from 'node:assert/strict';
import type { Fixture } from '../fixture.ts';

/** Valid until the end of 2034, with a three-digit code. */
export const CARD = { number: '4242 4242 4242 4242', expiry: '12 / 34', cvc: '123' };

/** Opens a checkout's page and returns its hidden form token. */
export async function openPage(url: string): Promise<{ response: Response; text: string; formToken: string }> {
  const response = await fetch(url);
  const text = await response.text();
  const formToken = /name="formToken" value="([^"]+)"/.exec(text)?.[1] ?? '';
  return { response, text, formToken };
}

/** Submits the form as a browser does, without following where it leads. */
export async function submit(url: string, fields: Record<string, string>): Promise<Response> {
  return await fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
}

/** Returns the page that a browser shows after a form: follows a redirect within the checkout, with GET. */
export async function shownAfter(url: string, response: Response): Promise<{ response: Response; text: string }> {
  assert.equal(response.status, 303);
  return await openPage(new URL(response.headers.get('location') ?? '', url).href);
}

/** Answers the challenge on the page. */
export async function confirm(url: string, action: 'pass' | 'fail'): Promise<Response> {
  const { text, formToken } = await openPage(url);
  const challenge = /name="challenge" value="([^"]+)"/.exec(text)?.[1] ?? '';
  return await submit(url, { formToken, challenge, action });
}

/** Fills in a card and submits. */
export async function pay(url: string, card: Partial<typeof CARD> = {}): Promise<Response> {
  const { formToken } = await openPage(url);
  return await submit(url, { formToken, ...CARD, ...card });
}

/** Returns the state of a checkout's authorization in the ledger. */
export function entryOf(fixture: Fixture, requestId: string) {
  const entry = fixture.oracle((oracle) => oracle.find(requestId));
  if (!entry) throw new Error('there is no such entry');
  return entry;
}
