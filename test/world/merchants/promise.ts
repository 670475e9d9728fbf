/** What an answer to a write promises: docs/product.md, "What an answer promises", taken literally. */
import type { Heard } from './caller.ts';

/** The writes that the table covers. */
export type Kind =
  | 'hold'
  | 'step-up'
  | 'capture'
  | 'release'
  | 'part'
  | 'increment'
  | 'extension'
  | 'renewal'
  | 'refund'
  | 'oct';

/**
 * done: stored. refused: not done, and never will be. ask: may have been done; ask by requestId. unknown: may have been
 * done; send again under the same key. again: nothing was stored; send again after a while. broken: no answer.
 */
export type Promised = 'done' | 'refused' | 'ask' | 'unknown' | 'again' | 'broken' | 'unexplained';

export interface Reading {
  readonly promised: Promised;
  /** Why the table does not contain it, or only in part. The client still follows its row, if there is one. */
  readonly fault?: string | undefined;
  /** Before it is sent again, milliseconds. */
  readonly afterMs: number;
}

/** Reads the answer to a write, which must be `refusedAs` if there is one. */
export function readAnswer(kind: Kind, isKeyed: boolean, heard: Heard, refusedAs?: string): Reading {
  const { status, body } = heard;
  const code = typeof body.code === 'string' ? body.code : '';
  const retryAfterS = Number(heard.headers['retry-after']);
  const afterMs = retryAfterS > 0 ? retryAfterS * 1_000 : 1_000;
  const read = (promised: Promised, isWhole: boolean, missing: string): Reading => ({
    promised,
    afterMs,
    fault: isWhole ? undefined : `${status} ${code} ${missing}`.replaceAll('  ', ' '),
  });
  const hasId = isUuid(body.requestId);
  const mayRepeat = retryAfterS > 0;
  if (status === 0) return read('broken', true, '');
  if (status === 200 || status === 201)
    return read('done', refusedAs === undefined && isSuccess(kind, heard), 'is not a whole success');
  if (status === 202)
    return read('ask', hasId && !saysMore(body), 'without requestId, or with what only a success has');
  if (status === 409 && code === 'IDEMPOTENCY_IN_FLIGHT') {
    return read('unknown', isKeyed && mayRepeat, 'without a key or Retry-After');
  }
  if (status === 408 || status === 429 || status === 503) return read('again', mayRepeat, 'without Retry-After');
  if (status === 500 && isKeyed) return read('unknown', true, '');
  if (status === 500) return hasId ? read('ask', true, '') : read('unexplained', false, 'without requestId');
  if (status === 502) return read('refused', hasId && code === 'PROCESSOR_ERROR', 'without requestId');
  if (status >= 400 && status < 500) {
    return read(
      'refused',
      (code === refusedAs || REFUSALS[kind].has(code)) && (hasId || !RECORDED.has(code)),
      'to a valid call',
    );
  }
  return read('unexplained', false, 'is in no row');
}

function isSuccess(kind: Kind, { status, body }: Heard): boolean {
  if (!isUuid(body.requestId) || status !== (CREATED.has(kind) ? 201 : 200)) return false;
  return WHOLE[kind].every((field) => body[field] !== undefined) && (body.status === 'OK' || !HAS_STATUS.has(kind));
}

const CREATED: ReadonlySet<Kind> = new Set(['hold', 'step-up', 'renewal', 'refund', 'oct']);
/** The others answer with the hold. */
const HAS_STATUS: ReadonlySet<Kind> = new Set(['capture', 'increment', 'refund', 'oct']);
/** What only a success has. */
const WHOLE: Readonly<Record<Kind, readonly string[]>> = {
  hold: ['preauthorizationId'],
  'step-up': ['phase'],
  release: ['preauthorizationId'],
  part: ['preauthorizationId', 'releaseRequestId', 'release'],
  extension: ['preauthorizationId', 'extensionRequestId', 'expiresAt'],
  renewal: ['preauthorizationId', 'renews'],
  capture: ['captureDate'],
  increment: ['amountAdded'],
  refund: ['amountRefunded'],
  oct: [],
};

function saysMore(body: Record<string, unknown>): boolean {
  return [...Object.values(WHOLE).flat(), 'bankReference'].some((field) => body[field] !== undefined);
}

/** The refusals that the stories can cause; any other is wrong. */
const REFUSALS: Readonly<Record<Kind, ReadonlySet<string>>> = {
  hold: new Set(['CARD_DECLINED']),
  'step-up': new Set(['CARD_DECLINED']),
  oct: new Set(['CARD_DECLINED']),
  capture: new Set(['CARD_DECLINED', 'CAPTURE_IN_FLIGHT']),
  release: new Set(['CAPTURE_IN_FLIGHT']),
  part: new Set(['CAPTURE_IN_FLIGHT']),
  increment: new Set(['CAPTURE_IN_FLIGHT']),
  extension: new Set(['CAPTURE_IN_FLIGHT']),
  renewal: new Set(['CARD_DECLINED']),
  refund: new Set(),
};
/** Refusals that are KO operations. */
const RECORDED: ReadonlySet<string> = new Set(['CARD_DECLINED']);

function isUuid(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
}
