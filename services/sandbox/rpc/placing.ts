import { BEHAVIOURS, type BehaviourName, behaviourOf, behaviourOfToken } from '../behaviour.ts';
import type { Intent, KeptCard } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import type { Conclusion } from './outcome.ts';

/** The card behind every built-in token. */
const BUILT_IN_CARD: KeptCard = { cardBrand: 'visa', cardLast4: '4242', cardExpiryMonth: 12, cardExpiryYear: 2034 };

/** How an authorization or credit with a token goes; a token nobody knows gets NOT_PERFORMED `token_invalid`. */
export function placingOf(books: Books, intent: Intent): Omit<Conclusion, 'nowMs'> {
  const { tokenId, merchantId } = intent;
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
