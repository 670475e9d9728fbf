/** How the service's words are coloured; the others are calm. */
const TONES = {
  good: ['CAPTURED', 'AUTHORIZED', 'OK', 'DELIVERED', 'FORWARDED'],
  wait: [
    ...['IN_PROGRESS', 'PARTIALLY_CAPTURED', 'PENDING', 'AWAITING_CHECKOUT', 'AWAITING_CUSTOMER', 'AUTHORIZING'],
    ...['HELD', 'PARKED'],
  ],
  bad: ['FAILED', 'UNKNOWN', 'NEEDS_REVIEW', 'FROZEN', 'CONTRADICTED', 'KO', 'DEAD'],
};

/** Words that a reader knows otherwise. */
const TEXTS = { OK: 'OK', KO: 'KO', OCT: 'OCT', UNKNOWN: 'Outcome unknown', HELD: 'Set aside' };

/** A word of the service for a reader: `Needs review` for NEEDS_REVIEW. */
export function textOf(word) {
  return TEXTS[word] ?? word.charAt(0).toUpperCase() + word.slice(1).toLowerCase().replaceAll('_', ' ');
}

export function choicesOf(...words) {
  return Object.fromEntries(words.map((word) => [word, textOf(word)]));
}

export function toneOf(word) {
  return Object.keys(TONES).find((name) => TONES[name].includes(word)) ?? 'calm';
}

/** How an operation ended: the word of its success, or what has failed. */
export function endOf({ operation, statusInfo }) {
  const hasFailed = statusInfo === 'declined' || statusInfo === 'failed';
  return hasFailed ? `${textOf(operation)} ${statusInfo}` : textOf(statusInfo);
}

/** The hold that an operation belongs to: a hold's own requestId, or undefined where there is none. */
export function holdOf({ requestId, operation, holdRequestId }) {
  return holdRequestId || (operation === 'HOLD' ? requestId : undefined);
}

/** What an endpoint gets. */
export const ENDPOINTS = { WEBHOOK: 'webhook', INTERNAL: 'internal' };

/** Which of a merchant's endpoints: the words for the contract's two, the id of a further one. */
export function endpointOf({ endpointKind, endpointId = '' }) {
  return endpointKind && !endpointId.includes('-') ? ENDPOINTS[endpointKind] : endpointId;
}

/** Why nothing is sent to an endpoint. */
export const PAUSES = {
  GONE: 'It answered 410 Gone',
  OPERATOR: 'Paused by an operator',
  BREAKER: 'It fails all the time; probed again',
};
