import { KIND_NAMES, OPERATION_KINDS } from './kinds.ts';

/**
 * The types of the notifications that tell a merchant about an endpoint or a secret of its own, each with its status.
 * They go to its other endpoints that ask for them by name.
 */
export const OPERATIONAL_TYPES = {
  'endpoint.failing': 'KO',
  'endpoint.disabled': 'KO',
  'delivery.dead': 'KO',
  'signing_secret.expiring': 'OK',
} as const;
export type OperationalType = keyof typeof OPERATIONAL_TYPES;
/** The kind of such a notification: what its type begins with. */
export type OperationalKind = OperationalType extends `${infer Kind}.${string}` ? Kind : never;

/** What selects all of them. */
export const OPERATIONAL_GROUP = 'endpoint.*';

/** The kind and statusInfo of such a type, as the path has them. */
export function partsOfType(type: OperationalType): { readonly kind: OperationalKind; readonly statusInfo: string } {
  const [kind, statusInfo] = type.split('.') as [OperationalKind, string];
  return { kind, statusInfo };
}

const OPERATIONAL_KINDS: ReadonlySet<string> = new Set(
  (Object.keys(OPERATIONAL_TYPES) as OperationalType[]).map((type) => partsOfType(type).kind),
);

/** Returns whether a notification of this kind tells a merchant about an endpoint or a secret of its own. */
export function isOperational(kind: string): boolean {
  return OPERATIONAL_KINDS.has(kind);
}

/** The types of the notifications about operations, such as payment.captured. */
export const NOTIFICATION_TYPES: readonly string[] = [...new Set(KIND_NAMES.flatMap(typesOf))];

/** What selects all types of a kind of operation, such as payment.*. */
export const TYPE_GROUPS: readonly string[] = [
  ...new Set(NOTIFICATION_TYPES.map((type) => type.replace(/\..*$/, '.*'))),
];

function typesOf(kind: (typeof KIND_NAMES)[number]): string[] {
  const facts = OPERATION_KINDS[kind];
  const subjects = facts.notification === 'EITHER' ? ['payment', 'oct'] : [facts.notification];
  const failures = 'failureWord' in facts ? [facts.failureWord] : ['declined', 'failed'];
  return subjects.flatMap((subject) => [facts.successWord, ...failures].map((word) => `${subject}.${word}`));
}
