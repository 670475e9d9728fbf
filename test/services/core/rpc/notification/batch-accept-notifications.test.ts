import assert from 'node:assert/strict';
import { AcceptOutcome, NotificationService } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, refusal, why } from '../../stage.ts';
import { notification } from './verified.ts';

const { STORED, DUPLICATE, CONFLICT, UNSPECIFIED } = AcceptOutcome;

describe('batchAcceptNotifications()', () => {
  const stage = forSuite(openStage);
  const relay = forSuite(() => stage.client('gateway', NotificationService));

  before(() => openMerchant(stage, 'm', { internalUrl: 'https://merchant.example' }));

  const outcomes = async (...requests: object[]) =>
    (await relay.batchAcceptNotifications({ requests })).responses.map(({ outcome }) => outcome);
  const deliveries = (requestId: string) =>
    sql<{ traceParent: string | null }>(
      stage,
      `select trace_parent as "traceParent" from delivery where request_id = '${requestId}'`,
    );

  it('returns for each what AcceptNotification would, in order', async () => {
    assert.deepEqual(await outcomes(notification('a'), notification('b'), notification('a')), [
      STORED,
      STORED,
      DUPLICATE,
    ]);
    const again = [notification('b', { amount: '11' }), notification('c'), notification('a')];
    assert.deepEqual(await outcomes(...again), [CONFLICT, STORED, DUPLICATE]);
    for (const requestId of ['a', 'b', 'c']) assert.equal((await deliveries(requestId)).length, 1, requestId);
  });

  it('continues the trace of each', async () => {
    const traceParent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
    await outcomes(notification('traced', { traceParent }), notification('untraced'));
    assert.deepEqual(await deliveries('traced'), [{ traceParent }]);
    assert.deepEqual(await deliveries('untraced'), [{ traceParent: null }]);
  });

  it('stores the neighbours of one that cannot be stored, and reports that one', async () => {
    await sql(stage, `alter table notification add constraint poison check (request_id not like 'poison%')`);
    assert.deepEqual(await outcomes(notification('d'), notification('poison'), notification('e')), [
      STORED,
      UNSPECIFIED,
      STORED,
    ]);
    assert.equal((await deliveries('poison')).length, 0);
    assert.equal((await refusal(outcomes(notification('poison'), notification('poison2')))).status, 'INTERNAL');
    await sql(stage, 'alter table notification drop constraint poison');
    assert.deepEqual(await outcomes(notification('poison')), [STORED]);
  });

  it('rejects an empty batch, more than 15, and one with an invalid field', async () => {
    const many = Array.from({ length: 16 }, (_, index) => notification(`many${index}`));
    for (const requests of [[], many, [notification('f'), notification('g', { amount: '-1' })]]) {
      assert.equal(await why(outcomes(...requests)), 'INVALID_REQUEST');
    }
    assert.equal((await deliveries('f')).length, 0);
  });
});
