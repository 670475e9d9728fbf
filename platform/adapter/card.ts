import type { KeptResult } from './entry.ts';
import { plainText } from './plain-text.ts';

/** The card network's identifier of an authorization, in the contract's form. */
export function keptNetworkId(said: unknown): Pick<KeptResult, 'networkTransactionId'> {
  return { networkTransactionId: plainText(String(said ?? '').slice(0, 64)) };
}

/** What a processor says of a card, in its own words. What it does not say is absent or empty. */
interface SaidCard {
  readonly brand: string | null | undefined;
  readonly last4: string | null | undefined;
  readonly expiryMonth: number;
  readonly expiryYear: number;
  readonly funding: string | null | undefined;
  /** In the contract's words. */
  readonly threeDSecure?: 'authenticated' | 'attempted' | 'exempted' | 'failed' | undefined;
  readonly declineCode?: string | undefined;
}

/** A card as the contract shows it; none when what the contract needs is not known. */
export function keptCard(said: SaidCard): Partial<KeptResult> {
  const { last4, expiryMonth, expiryYear, threeDSecure = '', declineCode = '' } = said;
  const hasEnd = expiryMonth >= 1 && expiryMonth <= 12 && expiryYear >= 2000 && expiryYear <= 9999;
  if (!hasEnd || !/^[0-9]{4}$/.test(last4 ?? '')) return {};
  return {
    cardBrand: plainText(said.brand ?? '')
      .slice(0, 32)
      .toLowerCase(),
    cardLast4: last4 as string,
    cardExpiryMonth: expiryMonth,
    cardExpiryYear: expiryYear,
    funding: fundingOf((said.funding ?? '').toLowerCase()),
    threeDSecure,
    declineCode: /^[A-Za-z0-9]{1,16}$/.test(declineCode) ? declineCode : '',
  };
}

/** Processors have finer words: PREPAID_RELOADABLE, DEFERRED_DEBIT, CHARGE. */
function fundingOf(word: string): string {
  if (word.startsWith('prepaid')) return 'prepaid';
  if (word.endsWith('debit')) return 'debit';
  return word === 'credit' || word === 'charge' ? 'credit' : '';
}
