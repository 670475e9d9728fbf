import assert from 'node:assert/strict';
import { useStage } from '../stage.ts';
import { CAPTURE_ID, HOLD_ID, NOW, NOW_TEXT, PREAUTHORIZATION_ID } from './examples.ts';

const OPERATION = {
  requestId: CAPTURE_ID,
  kind: 2,
  state: 4,
  statusInfo: 'captured',
  merchantId: 'acme',
  amount: 4_000n,
  currency: 'EUR',
  holdRequestId: HOLD_ID,
  processorReference: 'ref-2',
  bankReference: 'bank-1',
  terminalId: 'T1',
  userId: 'u-1',
  finalStateDate: NOW,
  sequence: 7n,
};
const OPERATION_JSON = {
  requestId: CAPTURE_ID,
  operation: 'CAPTURE',
  status: 'OK',
  statusInfo: 'captured',
  merchantId: 'acme',
  amount: 4_000,
  currency: 'EUR',
  holdRequestId: HOLD_ID,
  reference: 'ref-2',
  bankReference: 'bank-1',
  terminalId: 'T1',
  userId: 'u-1',
  finalStateDate: NOW_TEXT,
};

describe('REST operations', () => {
  const stage = useStage();

  it('takes an id in capitals, as RFC 9562 has it', async () => {
    stage.core.answers.set('getOperation', () => ({ operation: OPERATION }));
    assert.equal((await stage.ask('GET', `/operations/${CAPTURE_ID.toUpperCase()}`)).status, 200);
    assert.equal(stage.core.lastRequest.requestId, CAPTURE_ID);
    stage.core.answers.set('listOperations', () => ({ operations: [] }));
    assert.equal((await stage.ask('GET', `/operations?holdRequestId=${HOLD_ID.toUpperCase()}`)).status, 200);
    assert.equal(stage.core.lastRequest.holdRequestId, HOLD_ID);
  });

  it('returns one', async () => {
    stage.core.answers.set('getOperation', () => ({ operation: OPERATION }));
    const answer = await stage.ask('GET', `/operations/${CAPTURE_ID}`);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, OPERATION_JSON);
  });

  it('returns one without a result', async () => {
    const { statusInfo: _, finalStateDate: __, ...pending } = OPERATION;
    stage.core.answers.set('getOperation', () => ({ operation: { ...pending, state: 3, bankReference: '' } }));
    const { body } = await stage.ask('GET', `/operations/${CAPTURE_ID}`);
    assert.equal(body.status, 'NEEDS_REVIEW');
    for (const field of ['statusInfo', 'finalStateDate', 'bankReference']) assert.equal(field in body, false);
  });

  it('returns 404 for a malformed id without calling core', async () => {
    const answer = await stage.ask('GET', '/operations/nope');
    assert.deepEqual([answer.status, answer.body.code], [404, 'OPERATION_NOT_FOUND']);
    assert.deepEqual(stage.core.calls, []);
  });

  it('returns a page and passes the filters on', async () => {
    stage.core.answers.set('listOperations', () => ({ operations: [OPERATION], nextPageToken: 'n' }));
    const query = `operation=CAPTURE&status=OK&holdRequestId=${HOLD_ID}&finalFrom=2026-11-21T00:00:00Z&pageSize=5`;
    const answer = await stage.ask('GET', `/operations?${query}`);
    assert.deepEqual(answer.body, { items: [OPERATION_JSON], nextPageToken: 'n' });
    const { kind, state, holdRequestId, pageSize, merchantId } = stage.core.lastRequest;
    assert.deepEqual([kind, state, holdRequestId, pageSize, merchantId], [2, 4, HOLD_ID, 5, 'acme']);
  });

  it('returns 404 for the refund of a malformed capture without calling core', async () => {
    for (const captureRequestId of ['', '\u0000', PREAUTHORIZATION_ID, 'x'.repeat(65), 'x'.repeat(50_000)]) {
      const answer = await stage.ask('POST', '/refund', { body: { captureRequestId } });
      assert.deepEqual([answer.status, answer.body.code], [404, 'CAPTURE_NOT_FOUND']);
    }
    assert.deepEqual(stage.core.calls, []);
  });

  it('returns an empty page for a malformed hold id', async () => {
    assert.deepEqual((await stage.ask('GET', '/operations?holdRequestId=nope')).body, { items: [] });
    assert.deepEqual(stage.core.calls, []);
  });
});
