/** Refusals that operators' routes have in common. */
import type { ProblemCode } from '../../problem.ts';

/** Of every route. */
export const READ: readonly ProblemCode[] = [
  'INVALID_REQUEST',
  'UNAUTHENTICATED',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
];

/** Of every route that changes something: FORBIDDEN is a session's call without its X-CSRF-Token. */
export const WRITE: readonly ProblemCode[] = [
  ...READ,
  'FORBIDDEN',
  'REQUEST_TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
];
