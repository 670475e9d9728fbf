/** Sets of refusals that routes share, for their descriptions. */
import type { ProblemCode } from './refusals.ts';

/** Of every route that demands a credential. */
export const READ: readonly ProblemCode[] = [
  'INVALID_REQUEST',
  'UNAUTHENTICATED',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
];

/** Of reading one thing by its identifier. After a restore it may be among what the database lost. */
export const READ_ONE: readonly ProblemCode[] = [...READ, 'OPERATION_NOT_FOUND', 'RECONCILING'];

/** Of reading a body. */
export const BODY: readonly ProblemCode[] = ['REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

/** Of every route that changes something. FORBIDDEN is also a session's call without its X-CSRF-Token. */
export const WRITE: readonly ProblemCode[] = [...READ, 'FORBIDDEN', ...BODY];

/** Of changing one thing by its identifier. */
export const WRITE_ONE: readonly ProblemCode[] = [...WRITE, 'OPERATION_NOT_FOUND', 'RECONCILING'];

/** Of reading what only an API key that manages the webhook may read. */
export const MANAGED_READ: readonly ProblemCode[] = [...READ, 'FORBIDDEN'];

/** Of every route that takes an Idempotency-Key. */
export const KEYED_WRITE: readonly ProblemCode[] = [
  ...WRITE,
  'IDEMPOTENCY_IN_FLIGHT',
  'IDEMPOTENCY_KEY_REUSED',
  'RECONCILING',
];

/** Of correcting how an operation ended. */
export const CORRECT: readonly ProblemCode[] = [
  ...WRITE_ONE,
  'OPERATION_NOT_FINAL',
  'OUTCOME_UNCHANGED',
  'NOT_CORRECTABLE',
  'AMOUNT_EXCEEDS_HOLD',
  'AMOUNT_EXCEEDS_CAPTURE',
  'AMOUNT_TOO_LARGE',
  'CAPTURE_IN_FLIGHT',
  'CAPTURE_NOT_SETTLED',
];

/** When the processor refuses. */
export const PROCESSOR: readonly ProblemCode[] = ['CARD_DECLINED', 'PROCESSOR_ERROR'];

/** Of giving back what remains of a hold. */
export const RELEASE: readonly ProblemCode[] = [
  ...KEYED_WRITE,
  'PREAUTHORIZATION_NOT_FOUND',
  'HOLD_NOT_PLACED',
  'HOLD_EXPIRED',
  'HOLD_RELEASED',
  'HOLD_CAPTURED',
  'HOLD_FROZEN',
  'CAPTURE_IN_FLIGHT',
  ...PROCESSOR,
];

/** Of releasing a hold, or a part of it. */
export const RELEASE_OF_PART: readonly ProblemCode[] = [...RELEASE, 'AMOUNT_EXCEEDS_HOLD', 'NOT_SUPPORTED'];

/** Of refunding a capture. */
export const REFUND: readonly ProblemCode[] = [
  ...KEYED_WRITE,
  'CAPTURE_NOT_FOUND',
  'AMOUNT_EXCEEDS_CAPTURE',
  'CAPTURE_NOT_SETTLED',
  'NOT_SUPPORTED',
  'HOLD_FROZEN',
  'LIMIT_EXCEEDED',
  ...PROCESSOR,
];

/** Of paying to a card. */
export const OCT: readonly ProblemCode[] = [
  ...KEYED_WRITE,
  'TOKEN_INVALID',
  'OCT_NOT_ALLOWED',
  'LIMIT_EXCEEDED',
  ...PROCESSOR,
];

/** Of capturing a hold. */
export const CAPTURE: readonly ProblemCode[] = [
  ...RELEASE,
  'AMOUNT_EXCEEDS_HOLD',
  'LIMIT_EXCEEDED',
  'MULTIPLE_CAPTURES_NOT_ALLOWED',
  'NOT_SUPPORTED',
];

/** Of letting a hold end later. */
export const EXTENSION: readonly ProblemCode[] = [...RELEASE, 'NOT_SUPPORTED'];

/** Of adding to a hold. */
export const INCREMENT: readonly ProblemCode[] = [...EXTENSION, 'AMOUNT_TOO_LARGE'];
