import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { Problem } from '../../../gateway/http/problem.ts';
import { PROBLEM_CODES, type ProblemCode, REFUSALS } from '../../../gateway/http/refusals.ts';
import { ErrorReason } from '../../../proto/gen/holdfast/v1/error_pb.js';
import { refusal } from '../fake-core.ts';
import { HOLD_ID } from '../rest/examples.ts';
import { useStage } from '../stage.ts';

/** docs/interfaces.md, "Refusals". */
const TABLE: [reason: keyof typeof ErrorReason, rpc: status, http: number][] = [
  ['INVALID_REQUEST', status.INVALID_ARGUMENT, 400],
  ['TOKEN_INVALID', status.INVALID_ARGUMENT, 400],
  ['TIME_OUT_OF_RANGE', status.INVALID_ARGUMENT, 400],
  ['AMOUNT_TOO_LARGE', status.OUT_OF_RANGE, 400],
  ['AMOUNT_EXCEEDS_HOLD', status.OUT_OF_RANGE, 400],
  ['AMOUNT_EXCEEDS_CAPTURE', status.OUT_OF_RANGE, 400],
  ['UNAUTHENTICATED', status.UNAUTHENTICATED, 401],
  ['SIGNATURE_REQUIRED', status.UNAUTHENTICATED, 401],
  ['FORBIDDEN', status.PERMISSION_DENIED, 403],
  ['OCT_NOT_ALLOWED', status.PERMISSION_DENIED, 403],
  ['CARD_DECLINED', status.FAILED_PRECONDITION, 402],
  ['PREAUTHORIZATION_NOT_FOUND', status.NOT_FOUND, 404],
  ['CAPTURE_NOT_FOUND', status.NOT_FOUND, 404],
  ['OPERATION_NOT_FOUND', status.NOT_FOUND, 404],
  ['HOLD_EXPIRED', status.FAILED_PRECONDITION, 409],
  ['HOLD_RELEASED', status.FAILED_PRECONDITION, 409],
  ['HOLD_CAPTURED', status.FAILED_PRECONDITION, 409],
  ['HOLD_NOT_PLACED', status.FAILED_PRECONDITION, 409],
  ['MULTIPLE_CAPTURES_NOT_ALLOWED', status.FAILED_PRECONDITION, 409],
  ['HOLD_FROZEN', status.FAILED_PRECONDITION, 409],
  ['LIMIT_EXCEEDED', status.FAILED_PRECONDITION, 409],
  ['CAPTURE_IN_FLIGHT', status.FAILED_PRECONDITION, 409],
  ['CAPTURE_NOT_SETTLED', status.FAILED_PRECONDITION, 409],
  ['NOT_SUPPORTED', status.FAILED_PRECONDITION, 409],
  ['OPERATION_NOT_FINAL', status.FAILED_PRECONDITION, 409],
  ['OUTCOME_UNCHANGED', status.FAILED_PRECONDITION, 409],
  ['NOT_CORRECTABLE', status.FAILED_PRECONDITION, 409],
  ['IDEMPOTENCY_IN_FLIGHT', status.ABORTED, 409],
  ['IDEMPOTENCY_KEY_REUSED', status.INVALID_ARGUMENT, 422],
  ['STREAM_TOKEN_TOO_OLD', status.OUT_OF_RANGE, 410],
  ['PRECONDITION_FAILED', status.ABORTED, 412],
  ['RECONCILING', status.UNAVAILABLE, 503],
  ['PAYLOAD_TOO_LARGE', status.INVALID_ARGUMENT, 413],
  ['UNSUPPORTED_MEDIA_TYPE', status.INVALID_ARGUMENT, 415],
  ['RATE_LIMITED', status.RESOURCE_EXHAUSTED, 429],
  ['PROCESSOR_ERROR', status.ABORTED, 502],
  ['UNAVAILABLE', status.UNAVAILABLE, 503],
  ['OUTCOME_UNKNOWN', status.UNKNOWN, 504],
];

describe('problems of RPC', () => {
  const stage = useStage();

  const answerTo = async (error: object) => {
    stage.core.answers.set('getOct', () => {
      throw error;
    });
    return await stage.ask('GET', `/oct/${HOLD_ID}`);
  };

  it('cover all codes', () => {
    const words = Object.keys(ErrorReason).filter((word) => Number.isNaN(Number(word)) && word !== 'UNSPECIFIED');
    assert.deepEqual(TABLE.map(([reason]) => reason).sort(), words.sort());
  });

  for (const [reason, rpc, http] of TABLE) {
    it(`${reason} is ${http}`, async () => {
      const metadata = { requestId: HOLD_ID, processorCode: 'c', processorMessage: 'm', replayed: 'true' };
      const answer = await answerTo(refusal(rpc, { reason, message: 'Said by core.', metadata }));
      assert.equal(answer.status, http);
      assert.deepEqual([answer.body.code, answer.body.status, answer.body.detail], [reason, http, 'Said by core.']);
      assert.deepEqual(
        [answer.body.requestId, answer.body.processorCode, answer.body.processorMessage],
        [HOLD_ID, 'c', 'm'],
      );
      assert.equal(answer.headers.get('idempotency-replayed'), 'true');
      assert.ok(answer.body.type && answer.body.title);
    });
  }

  for (const code of [status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED]) {
    it(`${status[code]} without details is 503 with Retry-After and reveals nothing`, async () => {
      const answer = await answerTo(refusal(code, { message: 'connect ECONNREFUSED 10.1.2.3:50051' }));
      assert.deepEqual([answer.status, answer.body.code], [503, 'UNAVAILABLE']);
      assert.equal(answer.headers.get('retry-after'), '1');
      assert.doesNotMatch(answer.text, /10\.1\.2\.3/);
    });
  }

  const strange = [
    refusal(status.INTERNAL, { message: 'secret text' }),
    refusal(status.UNKNOWN, { message: 'secret text' }),
    refusal(status.NOT_FOUND, { message: 'secret text' }),
    refusal(status.INVALID_ARGUMENT, { reason: 'NO_SUCH_WORD', message: 'secret text' }),
    refusal(status.INVALID_ARGUMENT, { reason: 'INVALID_REQUEST', domain: 'elsewhere', message: 'secret text' }),
    refusal(status.INVALID_ARGUMENT, { reason: 'toString', message: 'secret text' }),
  ];
  for (const error of strange) {
    it(`an unrecognised ${status[error.code ?? 0]} is 500 and reveals nothing`, async () => {
      const answer = await answerTo(error);
      assert.deepEqual([answer.status, answer.body.code], [500, 'INTERNAL']);
      assert.doesNotMatch(answer.text, /secret|\bat /);
      assert.ok(stage.lines.some(({ event, fields }) => event === 'request failed' && fields.error === 'Error'));
      assert.doesNotMatch(JSON.stringify(stage.lines), /secret text/);
    });
  }

  it('name the fields as REST does', async () => {
    const violations = [{ field: 'terminal_id', description: 'is not one of the contract' }];
    const answer = await answerTo(refusal(status.INVALID_ARGUMENT, { reason: 'INVALID_REQUEST', violations }));
    assert.deepEqual(answer.body.errors, [{ field: 'terminalId', message: 'is not one of the contract' }]);
  });

  it('contain the time to wait', async () => {
    const error = refusal(status.ABORTED, { reason: 'IDEMPOTENCY_IN_FLIGHT', retryAfterSeconds: 7 });
    assert.equal((await answerTo(error)).headers.get('retry-after'), '7');
  });
});

describe('Problem', () => {
  it('does not guess the authentication scheme of a 401: merchants send a key, notifications a signature', () => {
    assert.equal(new Problem('UNAUTHENTICATED').toJSON().title, 'Valid credentials are required');
  });

  it('says how long to wait of everything that is to be sent again later', () => {
    const later = PROBLEM_CODES.filter((code) => REFUSALS[code].repeat === 'LATER');
    assert.deepEqual(later, ['REQUEST_TIMEOUT', 'RATE_LIMITED', 'UNAVAILABLE', 'RECONCILING']);
    for (const code of [...later, 'IDEMPOTENCY_IN_FLIGHT'] as const) {
      assert.equal(new Problem(code).headers()['Retry-After'], '1', code);
      assert.equal(new Problem(code, { retryAfterSeconds: 30 }).headers()['Retry-After'], '30', code);
    }
    assert.equal(new Problem('HOLD_FROZEN').headers()['Retry-After'], undefined);
  });

  it('always has a detail', () => {
    const body = new Problem('NOT_FOUND' satisfies ProblemCode).toJSON();
    assert.deepEqual(body, {
      type: '/docs/refusals#NOT_FOUND',
      title: 'No such resource',
      status: 404,
      detail: 'No such resource.',
      code: 'NOT_FOUND',
    });
  });
});
