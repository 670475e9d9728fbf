import { notPerformed } from '../../../platform/adapter/ending.ts';
import { listPage, type ResultInit } from '../../../platform/adapter/entry.ts';
import type { Methods } from '../../../platform/adapter/serve.ts';
import type { Context } from '../adapter-context.ts';
import { identityOf } from '../api/client.ts';
import { ENTRIES, intentOf } from '../ledger/entry.ts';
import { answerOf, conclude } from '../settlement/finish.ts';
import { authorize } from './authorize.ts';
import { createCheckout } from './create-checkout.ts';
import { describe } from './describe.ts';
import { inquire } from './inquire.ts';
import { operate } from './operate.ts';

/**
 * The methods of holdfast.processor.v1. Stripe decides at the authorization how long it lasts, gives nothing back of one that stays
 * open, and pays to no card of a token. A checkout that names no address ends at `closingUrl`.
 */
export function processorMethods(context: Context, closingUrl: string): Methods {
  const unsupported = async (
    kind: 'decrease' | 'extension' | 'credit',
    request: object,
    message: string,
  ): Promise<ResultInit> => {
    const ending = notPerformed('not_supported', message);
    return answerOf(await conclude(context, intentOf(kind, request), ending));
  };
  const result = async (answer: Promise<ResultInit>) => ({ result: await answer });
  return {
    authorize: (request) => result(authorize(context, request)),
    capture: (request) => result(operate(context, 'capture', request)),
    void: (request) => result(operate(context, 'void', request)),
    incrementAuthorization: (request) => result(operate(context, 'increment', request)),
    decreaseAuthorization: (request) =>
      result(unsupported('decrease', request, 'Stripe gives a part back with the last capture only (final_capture).')),
    extendAuthorization: (request) =>
      result(unsupported('extension', request, 'Stripe does not extend an authorization.')),
    refund: (request) => result(operate(context, 'refund', request)),
    credit: (request) => result(unsupported('credit', request, 'Stripe cannot pay to the card of a token.')),
    createCheckout: (request) => createCheckout(context, request, closingUrl),
    inquire: (request) => inquire(context, request),
    listEntries: (request) => listPage(request, (listing) => ENTRIES.list(context.database.query, listing)),
    describe: async (request) => ({ ...(await describe(context, request)), identity: await identityOf(context) }),
  };
}
