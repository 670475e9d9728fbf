import { openInbox } from '../../../platform/adapter/postgres/inbox.ts';

/** What Stripe announced: that something happened to an object. What it is now must be asked for. */
export interface Notice {
  readonly type: string;
  /** Stripe's account id; empty = the API key's own. */
  readonly account: string;
  /** A PaymentIntent `pi_…` or Checkout Session `cs_…`. */
  readonly objectId: string;
}

/** The notices by the ids of their events. */
export const NOTICES = openInbox<Notice>('stripe');
