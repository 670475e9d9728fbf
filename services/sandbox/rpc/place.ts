import type { KeptCard } from '../../../platform/adapter/entry.ts';
import { type BehaviourName, behaviourOfToken, effectOf } from '../behaviour.ts';
import { type Intent, intentOf } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { type Conclusion, cardOf, conclude, type Outcome, recall } from './outcome.ts';

/** Authorizes or credits an amount with a token; a repeated identifier returns the same result. */
export function place(books: Books, kind: 'authorization' | 'credit', request: object, nowMs: number): Outcome {
  const intent = intentOf(kind, request);
  return recall(books, intent) ?? conclude(books, intent, { ...placingOf(books, intent), nowMs });
}

/** The card behind every built-in token. */
const BUILT_IN_CARD: KeptCard = { cardBrand: 'visa', cardLast4: '4242', cardExpiryMonth: 12, cardExpiryYear: 2034 };

/** How an authorization or credit with a token goes; a token nobody knows gets NOT_PERFORMED `token_invalid`. */
function placingOf(books: Books, { tokenId, merchantId }: Intent): Omit<Conclusion, 'nowMs'> {
  const builtIn = behaviourOfToken(tokenId);
  if (builtIn && builtIn !== 'invalid') return placing(builtIn, BUILT_IN_CARD);
  const generated = books.tokens.find(tokenId, merchantId);
  if (!generated) return { effect: effectOf('invalid', 'authorization') };
  return placing(generated.behaviour, cardOf(generated));
}

function placing(behaviour: BehaviourName, card: KeptCard): Omit<Conclusion, 'nowMs'> {
  return { effect: effectOf(behaviour, 'authorization'), behaviour, card };
}
