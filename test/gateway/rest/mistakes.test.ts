import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import type { FieldError } from '../../../gateway/http/problem.ts';
import { refusal } from '../fake-core.ts';
import { type Ask, OTHER_API_KEY, useStage } from '../stage.ts';
import { HOLD_ID } from './examples.ts';
import { CAPTURE, capture, HOLD, hold, MISTAKES } from './mistakes.ts';

describe('REST, mistakes', () => {
  const stage = useStage();

  for (const [name, route, ask, [expectedStatus, code, ...said]] of MISTAKES) {
    it(`${route.split('?')[0]}, ${name}: ${said.join('; ')}`, async () => {
      const [method = '', path = ''] = route.startsWith('/') ? ['POST', route] : route.split(' ');
      const answer = await stage.ask(method, path, ask);
      assert.deepEqual([answer.status, answer.body.code], [expectedStatus, code], answer.text);
      const errors: FieldError[] | undefined = answer.body.errors;
      const told = errors?.map(({ field, message }) => `${field}: ${message}`) ?? [answer.body.detail];
      assert.deepEqual(told, said);
      assert.deepEqual(stage.core.calls, [], 'core was not called');
      assert.doesNotMatch(answer.text, /4242|hf_|Invalid |[Ee]xpected |received |_request_id/);
    });
  }

  /** Core's refusals, with REST's field names and as sentences. */
  const REFUSED: [name: string, route: string, ask: Ask, by: () => unknown, body: object][] = [
    [
      'a capture of more than remains',
      CAPTURE,
      capture({}),
      () =>
        refusal(status.OUT_OF_RANGE, {
          reason: 'AMOUNT_EXCEEDS_HOLD',
          message: 'the amount to capture is more than what remains of the hold: 600 EUR in minor units',
          metadata: { amountRemaining: '600', currency: 'EUR' },
        }),
      {
        code: 'AMOUNT_EXCEEDS_HOLD',
        detail: 'The amount to capture is more than what remains of the hold: 600 EUR in minor units.',
        amountRemaining: 600,
      },
    ],
    [
      'a capture of a released hold',
      CAPTURE,
      capture({}),
      () => refusal(status.FAILED_PRECONDITION, { reason: 'HOLD_RELEASED', message: 'the hold was released' }),
      { code: 'HOLD_RELEASED', detail: 'The hold was released.' },
    ],
    [
      'a terminal of nobody',
      HOLD,
      hold({}),
      () =>
        refusal(status.INVALID_ARGUMENT, {
          reason: 'INVALID_REQUEST',
          message: 'the request is not valid: terminal_id',
          violations: [
            { field: 'terminal_id', description: 'is not a terminal of the contract, which GET /contract shows' },
          ],
        }),
      {
        code: 'INVALID_REQUEST',
        detail: 'The request is not valid: terminalId.',
        errors: [{ field: 'terminalId', message: 'is not a terminal of the contract, which GET /contract shows' }],
      },
    ],
  ];
  for (const [name, route, ask, by, said] of REFUSED) {
    it(`${route}, ${name}`, async () => {
      const thrown = () => {
        throw by();
      };
      for (const method of ['createPreauthorization', 'capturePreauthorization'])
        stage.core.answers.set(method, thrown);
      const [method = '', path = ''] = route.split(' ');
      const { body } = await stage.ask(method, path, { ...ask, apiKey: OTHER_API_KEY });
      const { type: _, title: __, status: ___, ...rest } = body;
      assert.deepEqual(rest, said);
    });
  }

  it('accepts values just within the limits', async () => {
    stage.core.answers.set('createPreauthorization', () => ({ preauthorization: { requestId: HOLD_ID }, state: 2 }));
    const fields = {
      amount: 999_999_999_999,
      userId: 'é'.repeat(64),
      merchantReference: 'order-1700000000000',
      metadata: { ['k'.repeat(40)]: 'v'.repeat(500), empty: '' },
      returnUrl: 'https://shop.example/done?order=1700000000000',
    };
    const headers = { 'content-type': 'application/json; charset=UTF-8', 'idempotency-key': '~'.repeat(255) };
    const answer = await stage.ask('POST', '/preauthorization', { ...hold(fields), headers });
    assert.equal(answer.status, 202, answer.text);
  });
});
