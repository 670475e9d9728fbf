import type { Context } from 'koa';
import type { Log } from '../../../platform/log.ts';
import type { Clock } from '../clock.ts';
import type { Checkout } from '../ledger/checkout.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Reporter } from '../report.ts';
import type { Capabilities } from './capability.ts';
import { formPage } from './form-page.ts';
import { formatAmount, type Language, languageOf } from './language.ts';
import { challengePage, messagePage } from './message-page.ts';
import { showTo } from './security.ts';
import { type OpenedCheckout, readCheckout, standingOf } from './standing.ts';
import type { Message } from './words/en.ts';

/** What the page needs. */
export interface CheckoutSetup {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  readonly capabilities: Capabilities;
  readonly reporter: Pick<Reporter, 'wake' | 'reported'>;
  /** Scheme, host and port under which customers see the page; known once it listens. */
  readonly origin: () => string;
}

/** The checkout that a capability opens; where there is none, answers 404. */
export function findCheckout(
  { ledger, capabilities }: Pick<CheckoutSetup, 'ledger' | 'capabilities'>,
  context: Context,
  capability: string,
): OpenedCheckout | undefined {
  const { books } = ledger;
  const found = readCheckout(books, books.checkouts.findByHash(capabilities.hashOf(capability)));
  if (found) context.state.requestId = found.checkout.requestId;
  else say(context, 404, ({ words }) => words.unknownCheckout);
  return found;
}

/** Shows where a checkout stands: the form, the bank's question, or how it ended. */
export function showStanding(setup: CheckoutSetup, context: Context, capability: string, found: OpenedCheckout): void {
  const { checkout, entry, cardTry } = found;
  const standing = standingOf(found, setup.clock.now());
  const formToken = setup.capabilities.formTokenOf(capability);
  if (standing === 'open') {
    showTo(context, checkout);
    show(context, 200, (language) => formPage({ language, checkout, entry, formToken, cardTry }));
  } else if (standing === 'challenged' && cardTry) {
    showTo(context, checkout);
    show(context, 200, (language) => challengePage({ language, checkout, entry, formToken, cardTry }));
  } else if (standing !== 'challenged') {
    const httpStatus = standing === 'approved' || standing === 'failed' ? 200 : 410;
    show(context, httpStatus, (language) => {
      const { title, message } = language.words.ended[standing];
      const amount = formatAmount(entry.amount, entry.currency, language.locale);
      const text = { title, message: message(checkout.merchantName, amount) };
      return messagePage({ language, text, checkout, approved: standing === 'approved' });
    });
  }
}

/** Answers with a page of text. */
export function say(
  context: Context,
  httpStatus: number,
  textOf: (language: Language) => Message,
  checkout?: Checkout,
): void {
  show(context, httpStatus, (language) => messagePage({ language, text: textOf(language), checkout }));
}

/** Answers with a page in the customer's language. */
export function show(context: Context, httpStatus: number, page: (language: Language) => string): void {
  const language = languageOf(context);
  context.status = httpStatus;
  context.type = 'html';
  context.vary('Accept-Language');
  context.set('Content-Language', language.tag);
  context.body = page(language);
}
