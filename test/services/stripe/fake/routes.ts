import type { Account } from './account.ts';
import { FakeError, invalid } from './fake-error.ts';
import { type Form, formOf, numberOf, textOf } from './form.ts';
import {
  cancelIntent,
  captureIntent,
  cardOf,
  chargeOf,
  confirmIntent,
  createIntent,
  endIntent,
  findIntent,
  incrementIntent,
  shownIntent,
} from './payment-intents.ts';
import { createRefund, findRefund, shownTransaction } from './refunds.ts';
import { createSession, expireSession, findSession } from './sessions.ts';

type Handler = (account: Account, id: string, form: Form, origin: string) => object;

const intent = (handle: (account: Account, id: string, form: Form) => ReturnType<typeof findIntent>): Handler => {
  return (account, id, form) => shownIntent(account, handle(account, id, form), expansionsOf(form));
};

const LIST_FIELDS = 'payment_intent limit starting_after';

/** The routes of the fake, and the fields of each: any other field is an error, as at Stripe. */
const ROUTES: Readonly<Record<string, { readonly fields: string; readonly handle: Handler }>> = {
  'GET /v1/account': { fields: '', handle: ({ id }) => ({ id: id || 'acct_own', object: 'account' }) },
  'GET /v1/payment_intents': {
    fields: 'limit created starting_after',
    handle: (account, _id, form) => listOf(pageOf([...account.intents.values()], form)),
  },
  'GET /v1/payment_intents/…': { fields: 'expand', handle: intent(findIntent) },
  'POST /v1/payment_intents': {
    fields:
      'amount currency capture_method allowed_payment_method_types customer description metadata ' +
      'statement_descriptor_suffix',
    handle: (account, _id, form) => createIntent(account, form),
  },
  'POST /v1/payment_intents/…/confirm': {
    fields: 'payment_method off_session payment_method_options return_url expand',
    handle: intent(confirmIntent),
  },
  'POST /v1/payment_intents/…/capture': {
    fields: 'amount_to_capture final_capture metadata expand',
    handle: intent(captureIntent),
  },
  'POST /v1/payment_intents/…/cancel': { fields: 'cancellation_reason', handle: intent(cancelIntent) },
  'POST /v1/payment_intents/…/increment_authorization': {
    fields: 'amount metadata expand',
    handle: intent(incrementIntent),
  },
  'EXPIRE /v1/payment_intents/…': { fields: '', handle: (account, id) => expireIntent(account, id) },
  'POST /v1/refunds': {
    fields: 'payment_intent amount metadata',
    handle: (account, _id, form) => createRefund(account, form),
  },
  'GET /v1/refunds/…': { fields: '', handle: findRefund },
  'GET /v1/refunds': { fields: LIST_FIELDS, handle: (account, _id, form) => listOf(of(account.refunds, form)) },
  'GET /v1/balance_transactions/…': { fields: '', handle: shownTransaction },
  'GET /v1/disputes': { fields: LIST_FIELDS, handle: (account, _id, form) => listOf(of(account.disputes, form)) },
  'GET /v1/payment_methods/…': { fields: '', handle: (account, id) => shownMethod(account, id) },
  'POST /v1/checkout/sessions': {
    fields:
      'mode allowed_payment_method_types line_items payment_intent_data payment_method_options customer_creation ' +
      'client_reference_id metadata expires_at success_url cancel_url',
    handle: (account, _id, form, origin) => createSession(account, form, origin),
  },
  'GET /v1/checkout/sessions': {
    fields: 'limit created starting_after',
    handle: (account, _id, form) => listOf(pageOf([...account.sessions.values()], form)),
  },
  'GET /v1/checkout/sessions/…': { fields: 'expand', handle: shownSession },
  'POST /v1/checkout/sessions/…/expire': { fields: '', handle: expireSession },
  'EXPIRE /v1/checkout/sessions/…': { fields: '', handle: findSession },
};

/** Performs a request. Throws FakeError. */
export function route(account: Account, method: string, path: string, form: Form, origin: string): object {
  const id =
    /^\/v1\/(?:payment_intents|refunds|balance_transactions|payment_methods|checkout\/sessions)\/(\w+)/.exec(
      path,
    )?.[1] ?? '';
  const found = ROUTES[`${method} ${id === '' ? path : path.replace(`/${id}`, '/…')}`];
  if (!found)
    throw new FakeError(404, {
      type: 'invalid_request_error',
      message: `Unrecognized request URL (${method}: ${path}).`,
    });
  const fields = found.fields.split(' ');
  const unknown = Object.keys(form).find((name) => !fields.includes(name));
  if (unknown) throw invalid(`Received unknown parameter: ${unknown}`, unknown, 'parameter_unknown');
  return found.handle(account, id, form, origin);
}

function expansionsOf(form: Form): string[] {
  return Object.values(formOf(form, 'expand')).map(String);
}

function of<T extends Dated & { payment_intent?: unknown }>(all: Map<string, T>, form: Form): T[] {
  const about = [...all.values()].filter(({ payment_intent }) => payment_intent === textOf(form, 'payment_intent'));
  return pageOf(about, form);
}

interface Dated {
  readonly id: string;
  readonly created: number;
}

/** What was created in the time asked for, newest first, after the object that the page before ended with. */
function pageOf<T extends Dated>(all: T[], form: Form): T[] {
  const created = formOf(form, 'created');
  const [from = 0, to = Number.POSITIVE_INFINITY] = [numberOf(created, 'gte'), numberOf(created, 'lte')];
  const about = all.filter((object) => object.created >= from && object.created <= to).reverse();
  const after = textOf(form, 'starting_after');
  const start = after === undefined ? 0 : about.findIndex(({ id }) => id === after) + 1;
  return about.slice(start, start + (numberOf(form, 'limit') ?? 10) + 1);
}

/** Newest first, page by page. */
function listOf(data: object[]): object {
  const limit = 100;
  return { object: 'list', data: data.slice(0, limit), has_more: data.length > limit, url: '/v1' };
}

function shownMethod(account: Account, id: string): object {
  cardOf(account, id);
  const type = 'card';
  return account.paymentMethods.get(id) ?? { id, object: 'payment_method', customer: null, type };
}

function shownSession(account: Account, id: string, form: Form): object {
  const session = findSession(account, id);
  const expand = expansionsOf(form);
  if (typeof session.payment_intent !== 'string' || expand.length === 0) return session;
  return { ...session, payment_intent: shownIntent(account, findIntent(account, session.payment_intent), expand) };
}

/** Stripe cancels authorizations that were not captured in time. */
function expireIntent(account: Account, id: string): object {
  const found = findIntent(account, id);
  if (found.status !== 'requires_capture') return found;
  const { capture_before: before = 0 } = chargeOf(account, found).payment_method_details.card;
  return before <= account.now() ? endIntent(account, found, 'expired') : found;
}
