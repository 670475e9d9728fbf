/**
 * What Adyen does with a payment whose customer is sent to the issuer: it waits, authorises by itself once the customer
 * is authenticated, and says how it ended to whoever sends what the customer came back with.
 */
import { randomBytes } from 'node:crypto';
import type { Item, Payment } from './payment.ts';

/** A payment that waits for its customer. */
interface Waiting {
  readonly payment: Payment;
  readonly returnUrl: string;
  /** Notifies how it ended. */
  readonly notify: (change: Partial<Item>) => void;
  /** Called once it is authorised. */
  readonly authorise: () => void;
  /** What Adyen says of an authorised card. */
  readonly card: object;
}

export type Issuer = ReturnType<typeof openIssuer>;

export function openIssuer() {
  const waiting = new Map<string, Waiting>();
  const results = new Map<string, object>();
  return {
    /** Lets a payment wait; returns the action of the answer. */
    wait(origin: string, payment: Waiting): object {
      const { pspReference, token } = payment.payment;
      waiting.set(pspReference, payment);
      const url = `${origin}/issuer/${pspReference}`;
      const about = { type: 'redirect', paymentMethodType: 'scheme', url };
      if (token !== 'stored_challenge_post') return { ...about, method: 'GET' };
      return { ...about, method: 'POST', data: { MD: 'a "quoted" <one>', PaReq: 'request' } };
    },
    /** The customer's answer; returns where the customer is sent back to. */
    answer(pspReference: string, does: string): string {
      const found = waiting.get(pspReference);
      if (!found) throw new Error('no such payment waits');
      const { payment, returnUrl, notify, authorise, card } = found;
      const redirectResult = randomBytes(24).toString('base64url');
      const about = { pspReference, merchantReference: payment.reference };
      const refusal = refusalOf(payment.token, does);
      if (refusal) {
        notify({ success: 'false', reason: refusal });
        results.set(redirectResult, { ...about, resultCode: 'Refused', refusalReason: refusal });
      } else {
        authorise();
        notify({});
        const resultCode = payment.token === 'stored_challenge_pending' ? 'Received' : 'Authorised';
        results.set(redirectResult, { ...about, resultCode, ...card });
      }
      return `${returnUrl}?redirectResult=${redirectResult}`;
    },
    /** What `/payments/details` answers. */
    resultOf: (redirectResult = '') => results.get(redirectResult),
  };
}

function refusalOf(token: string, does: string): string | undefined {
  if (does !== 'confirm') return '3D Not Authenticated';
  return token === 'stored_challenge_poor' ? 'Not enough balance' : undefined;
}
