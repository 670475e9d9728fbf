import type { AuthorizeRequest, CreditRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { BEHAVIOURS, type BehaviourName, behaviourOf, behaviourOfToken } from '../behaviour.ts';
import { type Intent, type KeptCard, NO_INTENT } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { type Conclusion, conclude, type Outcome } from './outcome.ts';
import { recall } from './recall.ts';

/** Authorizes or credits an amount with a token; the same identifier answers the same again. */
export function place(
  books: Books,
  kind: 'authorization' | 'credit',
  request: AuthorizeRequest | CreditRequest,
  nowMs: number,
): Outcome {
  const { requestId, merchantId, account, terminalId, userId, tokenId, currency } = request;
  const who = { merchantId, account, terminalId, userId, tokenId };
  const intent: Intent = { ...NO_INTENT, requestId, kind, ...who, amount: Number(request.amount), currency };
  return recall(books, intent) ?? conclude(books, intent, { ...placingOf(books, intent), nowMs });
}

/** The card behind every built-in token. */
const BUILT_IN_CARD: KeptCard = { cardBrand: 'visa', cardLast4: '4242', cardExpiryMonth: 12, cardExpiryYear: 2034 };

/** How an authorization or credit with a token goes; a token nobody knows gets NOT_PERFORMED `token_invalid`. */
function placingOf(books: Books, { tokenId, merchantId }: Intent): Omit<Conclusion, 'nowMs'> {
  const builtIn = behaviourOfToken(tokenId);
  if (builtIn && builtIn !== 'invalid') return placing(builtIn, BUILT_IN_CARD);
  const generated = books.tokens.find(tokenId, merchantId);
  if (!generated) return { effect: BEHAVIOURS.invalid.placing };
  const { cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear } = generated;
  return placing(generated.behaviour, { cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear });
}

function placing(behaviour: BehaviourName, card: KeptCard): Omit<Conclusion, 'nowMs'> {
  return { effect: behaviourOf(behaviour).placing, behaviour, card };
}
