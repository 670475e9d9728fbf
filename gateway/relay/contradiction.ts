import { STATUS_INFOS, wordsOf } from '../resource/kinds.ts';
import type { Announced } from './announced.ts';

/** The status that each of our statusInfo words implies, by kind (docs/product.md, "Notifications"). */
const WORDS = { payment: wordsOf('payment'), oct: wordsOf('oct') } as const;
const OURS: ReadonlySet<string> = new Set(STATUS_INFOS);

/**
 * Whether the path contradicts the signed status. The path is not signed, so anyone with one notification could send it as another. Words of
 * other senders pass; ours are compared without regard to case, because a receiver may do the same.
 */
export function isContradiction({ kind, statusInfo }: Announced, status: string): boolean {
  const word = statusInfo.toLowerCase();
  return OURS.has(word) && WORDS[kind][word] !== status;
}
