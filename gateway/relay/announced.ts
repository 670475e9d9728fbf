import { NotificationKind } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { STATUS_INFOS, wordsOf } from '../resource/status-words.ts';

/** What the path of a notification announces. */
export interface Announced {
  readonly kind: 'payment' | 'oct';
  readonly statusInfo: string;
}

/** The kind as core names it. */
export function kindForCore(kind: Announced['kind']): NotificationKind {
  return kind === 'payment' ? NotificationKind.PAYMENT : NotificationKind.OCT;
}

/** The status that each of our statusInfo words implies, by kind (docs/notifications.md). */
const WORDS = { payment: wordsOf('payment'), oct: wordsOf('oct') } as const;
const OURS: ReadonlySet<string> = new Set(STATUS_INFOS);

/**
 * Whether the path contradicts the signed status. The path is not signed, so anyone with one notification could send it
 * as another. Words of other senders pass; ours are compared without regard to case, because a receiver may do the
 * same.
 */
export function isContradiction({ kind, statusInfo }: Announced, status: string): boolean {
  const word = statusInfo.toLowerCase();
  return OURS.has(word) && WORDS[kind][word] !== status;
}
