import assert from 'node:assert/strict';
import type { Context } from 'koa';
import type { Checkout } from '../ledger/checkout.ts';
import type { Entry } from '../ledger/entry.ts';
import type { CheckoutSetup } from './app.ts';
import { messagePage } from './page.ts';
import type { Standing } from './submit.ts';

/** The checkout that a capability opens; where there is none, answers 404. */
export function findCheckout(
  { ledger, capabilities }: Pick<CheckoutSetup, 'ledger' | 'capabilities'>,
  context: Context,
  capability: string,
): { readonly checkout: Checkout; readonly entry: Entry } | undefined {
  const checkout = ledger.books.checkouts.findByHash(capabilities.hashOf(capability));
  const entry = checkout && ledger.books.entries.find(checkout.requestId);
  if (!entry) {
    say(context, 404, 'Checkout not found', 'Check the address, or ask the merchant for a new one.');
    return undefined;
  }
  context.state.requestId = checkout.requestId;
  return { checkout, entry };
}

const CLOSED: Readonly<Record<Exclude<Standing, 'open'>, readonly [title: string, message: string]>> = {
  used: ['Already used', 'This page takes one card, once. It has been used.'],
  expired: ['Page closed', 'The time to enter a card is over. Nothing was reserved.'],
  cancelled: ['Checkout cancelled', 'The merchant cancelled this checkout. Nothing was reserved.'],
};

/** Says 410 and why. */
export function sayClosed(context: Context, standing: Standing, checkout: Checkout): void {
  assert(standing !== 'open');
  const [title, message] = CLOSED[standing];
  say(context, 410, title, message, checkout);
}

/** Answers with a page of text; with the way back to the merchant when a checkout is given. */
export function say(context: Context, httpStatus: number, title: string, message: string, checkout?: Checkout): void {
  context.status = httpStatus;
  context.type = 'html';
  context.body = messagePage(title, message, checkout);
}
