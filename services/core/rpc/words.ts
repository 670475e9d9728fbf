import type { Words } from '../books/submission-request.ts';
import { inOrder } from '../domain/notification-body.ts';
import type { Core } from './core.ts';
import { FieldCheck, refuseReference } from './server/check-fields.ts';

/** The fields of a call that are the merchant's own data. */
interface Said {
  readonly merchantReference?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly reason?: string | undefined;
}

/**
 * The same in the form in which it is stored and compared with a repetition: an empty field is absent, as in calls of
 * clients of 1.0.0.
 */
export function wordsIn({ merchantReference, metadata, reason }: Said): Partial<Words> {
  const isEmpty = Object.keys(metadata).length === 0;
  return { merchantReference, metadata: isEmpty ? undefined : { ...metadata }, reason };
}

/** Throws INVALID_REQUEST for a card number in them, unless the owner's contract allows it, or for too much of them. */
export async function demandWords(core: Core, said: Said, owner: () => string | Promise<string>): Promise<void> {
  const fields = new FieldCheck();
  fields.text('reason', said.reason);
  fields.metadata(said.metadata);
  fields.refuse();
  await refuseReference(core, owner, said.merchantReference);
}

/** They as a message shows them. */
export function presentWords({ merchantReference, metadata, reason }: Partial<Words>) {
  return {
    ...(merchantReference != null && { merchantReference }),
    ...(metadata != null && { metadata: inOrder(metadata) }),
    ...(reason != null && { reason }),
  };
}
