/** What an API key may do. Each route of merchants has one of them. */
export const SCOPES = ['read', 'hold', 'capture', 'release', 'refund', 'oct', 'webhook'] as const;

export type Scope = (typeof SCOPES)[number];
