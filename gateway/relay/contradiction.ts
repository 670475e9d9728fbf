import type { Announced } from './announced.ts';

/** What each of our statusInfo words says (docs/product.md, "Notifications"). */
const WORDS: Readonly<Record<string, Readonly<Partial<Record<Announced['kind'], 'OK' | 'KO'>>>>> = {
  authorized: { payment: 'OK' },
  captured: { payment: 'OK' },
  released: { payment: 'OK' },
  reversed: { payment: 'KO' },
  expired: { payment: 'KO' },
  paid: { oct: 'OK' },
  declined: { payment: 'KO', oct: 'KO' },
  failed: { payment: 'KO', oct: 'KO' },
};

/**
 * Tells whether the path says something else than the signed status: the path is not signed, so whoever holds one
 * notification could send it as another. Words of others pass; ours are known in any case of letters, as a careless
 * receiver might read them.
 */
export function isContradiction({ kind, statusInfo }: Announced, status: string): boolean {
  const word = statusInfo.toLowerCase();
  return Object.hasOwn(WORDS, word) && WORDS[word]?.[kind] !== status;
}
