import assert from 'node:assert/strict';
import { Code, ConnectError } from '@connectrpc/connect';
import type { ErrorReason } from '../../../../../proto/gen/holdfast/v1/error_pb.js';
import { HoldfastError, type RefusalCode } from '../../../../../services/core/domain/refusal.ts';
import { translateError } from '../../../../../services/core/rpc/server/translate-error.ts';

/** docs/interfaces.md, "Refusals", the column of gRPC. */
const STATUSES: Record<string, (keyof typeof ErrorReason)[]> = {
  InvalidArgument: ['INVALID_REQUEST', 'TOKEN_INVALID', 'IDEMPOTENCY_KEY_REUSED'],
  OutOfRange: ['AMOUNT_EXCEEDS_HOLD', 'STREAM_TOKEN_TOO_OLD'],
  Unauthenticated: ['UNAUTHENTICATED', 'SIGNATURE_REQUIRED'],
  PermissionDenied: ['FORBIDDEN'],
  NotFound: ['PREAUTHORIZATION_NOT_FOUND', 'OPERATION_NOT_FOUND'],
  FailedPrecondition: [
    ...(['CARD_DECLINED', 'HOLD_EXPIRED', 'HOLD_RELEASED', 'HOLD_CAPTURED', 'HOLD_NOT_PLACED'] as const),
    ...(['MULTIPLE_CAPTURES_NOT_ALLOWED', 'NOT_SUPPORTED', 'HOLD_FROZEN', 'CAPTURE_IN_FLIGHT'] as const),
  ],
  Aborted: ['IDEMPOTENCY_IN_FLIGHT', 'PROCESSOR_ERROR'],
  ResourceExhausted: ['RATE_LIMITED'],
  Unavailable: ['UNAVAILABLE'],
};

describe('translateError()', () => {
  for (const [status, words] of Object.entries(STATUSES)) {
    it(`returns ${status} for ${words.join(', ')}`, () => {
      for (const word of words) {
        const error = translateError(new HoldfastError(word as RefusalCode, 'no'));
        assert.equal(Code[error.code], status);
        assert.equal(error.details.length, 1);
      }
    });
  }

  it("reports a database that is down, with a time to retry, whatever the driver's error", () => {
    const codes = [
      '08006',
      '57P01',
      '57014',
      '53300',
      '55P03',
      '25P03',
      '40P01',
      '40001',
      'ECONNREFUSED',
      'ECONNRESET',
    ];
    const errors: Error[] = codes.map((code) => Object.assign(new Error('x'), { code }));
    errors.push(Object.assign(new Error('Connection terminated unexpectedly'), { code: '' }));
    errors.push(new Error('Client has encountered a connection error and is not queryable'));
    for (const each of errors) {
      const error = translateError(each);
      assert.equal(Code[error.code], 'Unavailable');
      assert.equal(error.details.length, 2);
    }
  });

  it('reveals nothing of an unexpected error', () => {
    for (const each of [
      new Error('secret'),
      Object.assign(new Error('secret'), { code: '23505' }),
      'secret',
      undefined,
    ]) {
      const error = translateError(each);
      assert.deepEqual([Code[error.code], error.rawMessage, error.details], ['Internal', 'internal error', []]);
    }
  });

  it('passes on a status of the server itself', () => {
    const error = new ConnectError('no such method', Code.Unimplemented);
    assert.equal(translateError(error), error);
  });
});
