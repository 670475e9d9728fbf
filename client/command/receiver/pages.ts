/** Places in our documents that a line of the check refers to. */
const VERIFY = 'docs/verify-webhooks.md';

/** A point of "Four things that are easy to get wrong". */
export const easy = (point: 1 | 2 | 3 | 4) => `${VERIFY}#four-things-that-are-easy-to-get-wrong, ${point}`;

/** A point of "What a receiver must do besides". */
export const besides = (point: 1 | 2 | 3 | 4 | 5 | 6 | 7) => `${VERIFY}#what-a-receiver-must-do-besides, ${point}`;

export const SIGNATURES = `${VERIFY}#verify-notifications`;
export const PATHS = `${VERIFY}#paths`;
export const ORDER = `${VERIFY}#in-order`;
export const SECRETS = `${VERIFY}#changing-the-secret`;
export const BODY = 'docs/notifications.md#what-is-notified';
export const DELIVERY = 'docs/notifications.md#delivery';
