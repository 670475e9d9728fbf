/** Refusals that routes have in common. */
import type { ProblemCode } from '../../problem.ts';

/** Of every route behind an API key. */
export const READ: readonly ProblemCode[] = [
  'INVALID_REQUEST',
  'UNAUTHENTICATED',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
];

/** Of every POST. */
export const WRITE: readonly ProblemCode[] = [
  ...READ,
  'FORBIDDEN',
  'REQUEST_TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'IDEMPOTENCY_IN_FLIGHT',
  'IDEMPOTENCY_KEY_REUSED',
];

/** When the processor says no. */
export const PROCESSOR: readonly ProblemCode[] = ['CARD_DECLINED', 'PROCESSOR_ERROR'];
