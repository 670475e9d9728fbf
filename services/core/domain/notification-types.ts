import { KIND_NAMES, OPERATION_KINDS } from './kinds.ts';

/** The types of this service's notifications, such as payment.captured. */
export const NOTIFICATION_TYPES: readonly string[] = [...new Set(KIND_NAMES.flatMap(typesOf))];

/** What selects all types of a kind, such as payment.*. */
export const TYPE_GROUPS: readonly string[] = [
  ...new Set(NOTIFICATION_TYPES.map((type) => type.replace(/\..*$/, '.*'))),
];

function typesOf(kind: (typeof KIND_NAMES)[number]): string[] {
  const facts = OPERATION_KINDS[kind];
  const subjects = facts.notification === 'EITHER' ? ['payment', 'oct'] : [facts.notification];
  const failures = 'failureWord' in facts ? [facts.failureWord] : ['declined', 'failed'];
  return subjects.flatMap((subject) => [facts.successWord, ...failures].map((word) => `${subject}.${word}`));
}
