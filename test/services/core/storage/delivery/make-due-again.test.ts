import assert from 'node:assert/strict';
import { hurry, recoverRange, replayOne } from '../../../../../services/core/storage/delivery/make-due-again.ts';
import { forSuite } from '../../../../suite.ts';
import { openDeliveryStage, openReceiver } from '../../delivery/stage.ts';

describe('what is made due again during an attempt that fails', () => {
  const stage = forSuite(openDeliveryStage);
  const deliverer = forSuite(() => stage.openDeliverer());
  const receiver = forSuite(openReceiver);

  afterEach(() => stage.sql('delete from delivery'));

  interface Case {
    readonly what: string;
    /** Attempts before this one. */
    readonly attemptCount: number;
    readonly statusInfo?: string;
    readonly again: (id: string, merchantId: string) => Promise<unknown>;
  }
  const replay = (id: string) => replayOne(stage.database.query, id, stage.clock());
  const recover = (_: string, merchantId: string) => {
    const range = { merchantId, endpoint: null, since: new Date(0), until: null };
    return recoverRange(stage.database.query, range, stage.clock());
  };
  const move = (_: string, merchantId: string) =>
    hurry(stage.database.query, { merchantId, endpointId: 'webhook' }, stage.clock());
  const cases: readonly Case[] = [
    { what: 'replayed', attemptCount: 9, again: replay },
    { what: 'a test, and replayed', attemptCount: 0, statusInfo: 'test', again: replay },
    { what: 'recovered', attemptCount: 7, again: recover },
    { what: 'sent to another address', attemptCount: 7, again: move },
  ];

  for (const [index, { what, attemptCount, statusInfo = 'captured', again }] of cases.entries()) {
    it(`stays due when it is ${what}`, async () => {
      const merchantId = `m${index}`;
      await stage.addMerchant(merchantId, receiver.url);
      const id = await stage.addDelivery(merchantId, { statusInfo });
      await stage.sql('update delivery set attempt_count = $2 where id = $1', [id, attemptCount]);
      receiver.how.answer = async (response) => {
        stage.time.now += 1_000;
        await again(id, merchantId);
        response.writeHead(500).end();
      };
      stage.time.now += 3_000;
      await deliverer.runOnce();
      const { state, attemptCount: made, dueAt } = await stage.deliveryOf(id);
      assert.deepEqual([state, made, dueAt], ['PENDING', attemptCount + 1, stage.clock()]);
    });
  }
});
