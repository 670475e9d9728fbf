import assert from 'node:assert/strict';
import { version as uuidVersion } from 'uuid';
import { useStage } from '../stage.ts';
import { CREATE_OCT, NOW, NOW_TEXT, OCT_ID } from './examples.ts';

const OCT = {
  requestId: OCT_ID,
  state: 4,
  amount: 500n,
  currency: 'EUR',
  merchantId: 'acme',
  terminalId: 'T1',
  userId: 'u-1',
  processorReference: 'ref-3',
  bankReference: 'bank-3',
  createdAt: NOW,
  finalStateDate: NOW,
};
const OCT_JSON = {
  requestId: OCT_ID,
  status: 'OK',
  amount: 500,
  currency: 'EUR',
  merchantId: 'acme',
  terminalId: 'T1',
  userId: 'u-1',
  reference: 'ref-3',
  bankReference: 'bank-3',
  createdAt: NOW_TEXT,
  finalStateDate: NOW_TEXT,
  amountReturned: 0,
};

describe('REST OCT', () => {
  const stage = useStage();

  it('returns 201 with the OCT', async () => {
    stage.core.answers.set('createOct', () => ({ oct: OCT, replayed: true }));
    const ask = { body: { ...CREATE_OCT, merchantReference: 'r-1' }, headers: { 'idempotency-key': 'k-2' } };
    const answer = await stage.ask('POST', '/oct', ask);
    assert.equal(answer.status, 201);
    assert.deepEqual(answer.body, OCT_JSON);
    assert.equal(answer.headers.get('idempotency-replayed'), 'true');
    const { operationRequestId, ...request } = stage.core.lastRequest;
    assert.equal(uuidVersion(String(operationRequestId)), 7);
    const drawnAtMs = Number.parseInt(String(operationRequestId).replace('-', '').slice(0, 12), 16);
    assert(Math.abs(Date.now() - drawnAtMs) < 30_000, 'identifiers are in order of time');
    assert.deepEqual(request, {
      ...ask.body,
      merchantId: 'acme',
      amount: 500n,
      idempotencyKey: 'k-2',
      metadata: {},
    });
  });

  it('returns 202 while the outcome is unknown', async () => {
    stage.core.answers.set('createOct', () => ({ oct: { ...OCT, state: 2 } }));
    const answer = await stage.ask('POST', '/oct', { body: CREATE_OCT });
    assert.equal(answer.status, 202);
    assert.deepEqual(answer.body, { requestId: OCT_ID, status: 'IN_PROGRESS' });
  });

  it('requires a token', async () => {
    const { tokenId: _, ...body } = CREATE_OCT;
    const answer = await stage.ask('POST', '/oct', { body });
    assert.deepEqual(answer.body.errors, [{ field: 'tokenId', message: 'is required' }]);
  });

  it('returns one', async () => {
    const processorError = { code: 'do_not_honor', message: 'No' };
    stage.core.answers.set('getOct', () => ({ oct: { ...OCT, state: 5, bankReference: '', processorError } }));
    const answer = await stage.ask('GET', `/oct/${OCT_ID}`);
    const { bankReference: _, ...rest } = OCT_JSON;
    assert.deepEqual(answer.body, { ...rest, status: 'KO', processorCode: 'do_not_honor', processorMessage: 'No' });
  });

  it('returns 404 for a malformed id without calling core', async () => {
    const answer = await stage.ask('GET', '/oct/nope');
    assert.deepEqual([answer.status, answer.body.code], [404, 'OPERATION_NOT_FOUND']);
    assert.deepEqual(stage.core.calls, []);
  });
});
