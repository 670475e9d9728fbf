import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { OPERATOR_TOKEN, refusal } from '../../fake-core.ts';
import { useStage } from '../../stage.ts';
import { CREATE_HOLD, HOLD, HOLD_ID, HOLD_JSON, NOW, NOW_TEXT } from '../examples.ts';

const PATH = `/preauthorization/${HOLD_ID}`;

describe('keepUntil', () => {
  const stage = useStage();
  const { core } = stage;
  const place = (keepUntil: unknown) => stage.ask('POST', '/preauthorization', { body: { ...CREATE_HOLD, keepUntil } });
  const change = (keepUntil: unknown) => stage.ask('PATCH', PATH, { body: { keepUntil } });

  it('is passed on with a new hold and with a change, and shown', async () => {
    core.answers.set('createPreauthorization', () => ({ preauthorization: { ...HOLD, keepUntil: NOW }, state: 4 }));
    core.answers.set('updatePreauthorization', () => ({ preauthorization: { ...HOLD, keepUntil: NOW } }));
    for (const [expected, ask] of [
      [201, place],
      [200, change],
    ] as const) {
      const answer = await ask('2026-11-21T13:00:00.123+01:00');
      assert.equal(answer.status, expected);
      assert.deepEqual(answer.body, { ...HOLD_JSON, keepUntil: NOW_TEXT });
      assert.deepEqual(core.lastRequest.keepUntil, NOW);
    }
    assert.deepEqual((core.lastRequest.updateMask as { paths: string[] }).paths, ['keep_until']);
    await stage.logged(({ fields }) => fields.changed === `keepUntil=${NOW_TEXT}`);
  });

  it('is taken back by null', async () => {
    core.answers.set('updatePreauthorization', () => ({ preauthorization: HOLD }));
    const { status, body } = await change(null);
    assert.deepEqual([status, body], [200, HOLD_JSON]);
    assert.equal(core.lastRequest.keepUntil, undefined);
    assert.deepEqual((core.lastRequest.updateMask as { paths: string[] }).paths, ['keep_until']);
    await stage.logged(({ fields }) => fields.changed === 'keepUntil=none');
  });

  it('is refused when it is no time, without a call to core', async () => {
    const calls = core.calls.length;
    for (const wrong of ['', 'soon', '2026-11-21', '2026-11-21T12:00:00', 1_795_656_893, true, [NOW_TEXT]]) {
      for (const ask of [place, change]) {
        const { status, body } = await ask(wrong);
        assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST'], JSON.stringify(wrong));
        assert.deepEqual(fieldsOf(body), ['keepUntil']);
      }
    }
    assert.deepEqual(fieldsOf((await place(null)).body), ['keepUntil']);
    assert.equal(core.calls.length, calls);
  });

  for (const [code, reason, answered] of [
    [status.OUT_OF_RANGE, 'TIME_OUT_OF_RANGE', 400],
    [status.INVALID_ARGUMENT, 'INVALID_REQUEST', 400],
    [status.FAILED_PRECONDITION, 'NOT_SUPPORTED', 409],
  ] as const) {
    it(`is refused as core refuses it: ${answered} ${reason}`, async () => {
      const violations = [{ field: 'keep_until', description: 'belongs to a hold with token_id' }];
      const refuse = () => {
        throw refusal(code, { reason, message: 'no', ...(answered === 400 && { violations }) });
      };
      core.answers.set('createPreauthorization', refuse);
      core.answers.set('updatePreauthorization', refuse);
      for (const ask of [place, change]) {
        const { status, body } = await ask(NOW_TEXT);
        assert.deepEqual([status, body.code], [answered, reason]);
        if (answered === 400)
          assert.deepEqual(body.errors, [{ field: 'keepUntil', message: 'belongs to a hold with tokenId' }]);
      }
    });
  }

  it('has its authorizations shown, to the merchant and to operators; a hold without it has none', async () => {
    const authorizations = [
      { reference: 'ref-1', placedAt: NOW, endedAt: NOW, guaranteedUntil: NOW },
      { reference: 'ref-2', placedAt: NOW },
    ];
    const shown = [
      { reference: 'ref-1', placedAt: NOW_TEXT, endedAt: NOW_TEXT, guaranteedUntil: NOW_TEXT },
      { reference: 'ref-2', placedAt: NOW_TEXT },
    ];
    core.answers.set('getOperation', () => ({}));
    for (const method of ['listOperations', 'listDeliveries', 'listContradictions'])
      core.answers.set(method, () => ({ operations: [], deliveries: [], contradictions: [] }));
    const asOperator = { apiKey: OPERATOR_TOKEN, headers: { 'x-operator': 'ann' } };
    for (const kept of [true, false]) {
      const hold = { ...HOLD, ...(kept && { keepUntil: NOW, authorizations }) };
      core.answers.set('getPreauthorization', () => ({ preauthorization: hold }));
      for (const ask of [
        () => stage.ask('GET', PATH),
        () => stage.ask('GET', `/operator/holds/${HOLD_ID}`, asOperator),
      ]) {
        const { status, body } = await ask();
        assert.equal(status, 200);
        assert.deepEqual(body.authorizations, kept ? shown : undefined);
        assert.equal('authorizations' in body, kept);
      }
    }
  });
});

function fieldsOf(body: object): string[] {
  return (body as { errors: { field: string }[] }).errors.map(({ field }) => field);
}
