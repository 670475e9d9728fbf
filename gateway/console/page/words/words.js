import { html } from '../shell/html.js';
import { linkTo } from '../shell/route.js';

/** What the service's words mean to a reader, and how they are coloured. */
const WORDS = {
  IN_PROGRESS: ['In progress', 'wait'],
  PARTIALLY_CAPTURED: ['Partially captured', 'wait'],
  CAPTURED: ['Captured', 'good'],
  RELEASED: ['Released', 'calm'],
  EXPIRED: ['Expired', 'calm'],
  FAILED: ['Failed', 'bad'],
  PENDING: ['Pending', 'wait'],
  AWAITING_CHECKOUT: ['Awaiting checkout', 'wait'],
  AUTHORIZING: ['Authorizing', 'wait'],
  AUTHORIZED: ['Authorized', 'good'],
  CLOSED: ['Closed', 'calm'],
  UNKNOWN: ['Outcome unknown', 'bad'],
  NEEDS_REVIEW: ['Needs review', 'bad'],
  FROZEN: ['Frozen', 'bad'],
  OK: ['OK', 'good'],
  KO: ['KO', 'bad'],
  DELIVERED: ['Delivered', 'good'],
  DEAD: ['Dead', 'bad'],
  HELD: ['Set aside', 'wait'],
  DISCARDED: ['Discarded', 'calm'],
  PARKED: ['Parked', 'wait'],
  FORWARDED: ['Forwarded', 'good'],
  NOT_FORWARDED: ['Not forwarded', 'calm'],
};

/** By what something was found. */
export const MATCHES = {
  ID: 'ID',
  MERCHANT_REFERENCE: "Merchant's reference",
  PREAUTHORIZATION_ID: 'preauthorizationId',
  PROCESSOR_REFERENCE: "Processor's or bank's reference",
  LAST4: 'Last four digits',
};

/** Why a notification could not be verified. */
export const FAILURES = {
  MISSING_SIGNATURE: 'No signature',
  MALFORMED_SIGNATURE: 'Malformed signature',
  WRONG_SIGNATURE: 'Wrong signature',
  UNKNOWN_MERCHANT: 'Unknown merchant',
};

/** Why a verified notification was set aside. */
export const QUARANTINE = {
  CONFLICT: 'Another notification with this requestId was accepted',
  STATUS_INFO_CONTRADICTED: 'Its path contradicts it',
};

/** Why nothing is sent to an endpoint. */
export const PAUSES = {
  GONE: 'It answered 410 Gone',
  OPERATOR: 'Paused by an operator',
  BREAKER: 'It fails all the time; probed again',
};

/** Which of a merchant's two endpoints. */
export const ENDPOINTS = { WEBHOOK: 'webhook', INTERNAL: 'internal' };

/** Pairs for a choice, from words that have a colour. */
export function choicesOfWords(...words) {
  return words.map((word) => [word, textOf(word)]);
}

/** A word for a reader; one that is not known stands for itself. */
export function textOf(word) {
  return WORDS[word]?.[0] ?? word;
}

/** A state, coloured; the colour says nothing that the word does not. */
export function Badge({ word }) {
  return html`<span class="badge ${WORDS[word]?.[1] ?? 'calm'}">${textOf(word)}</span>`;
}

/** The end of an id, which tells ids apart; the whole of it is read out and copied. `of` names the view to link to. */
export function Id({ id, of }) {
  const short = id.length > 20 ? `…${id.slice(-12)}` : id;
  return of
    ? html`<a class="id" href=${linkTo([of, id])} title=${id}>${short}</a>`
    : html`<code class="id" title=${id}>${short}</code>`;
}
