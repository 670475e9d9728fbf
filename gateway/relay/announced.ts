/** What the path of a notification announces. */
export interface Announced {
  readonly kind: 'payment' | 'oct';
  readonly statusInfo: string;
}
