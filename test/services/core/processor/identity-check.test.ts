/** A processor is called only while it is the one of the first contact. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { openLog } from '../../../../platform/log.ts';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { ledgersOf, openProcessors } from '../../../../services/core/processor/processors.ts';
import { audit } from '../../../../services/core/reconciliation/self-audit.ts';
import { inquiries } from '../../../../services/core/recovery/inquire-open.ts';
import { startCore } from '../../../../services/core/start/start-core.ts';
import { identitiesIn } from '../../../../services/core/storage/processor-identity/processor-identity.ts';
import { forEachTest } from '../../../suite.ts';
import { approved, neverSeen, startFakeProcessor } from '../fake-processor.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage, why } from '../stage.ts';
import { workOnce } from '../work-once.ts';

describe('a processor that is another than at the first contact', () => {
  const a = forEachTest(startFakeProcessor);
  const b = forEachTest(startFakeProcessor);
  const stage = forEachTest(() =>
    openStage({ processor: a.address, beside: { b: b.address }, processorTimeoutMs: 2_000 }),
  );
  const acme = forEachTest(() => openMerchant(stage, 'acme', { processor: 'first' }));
  const log = openLog('test', 'silent');

  beforeEach(() => {
    for (const processor of [a, b]) processor.says = { authorize: () => approved, inquire: () => neverSeen };
  });

  /** The settings with the addresses of the two swapped. */
  const swapped = () => ({
    ...stage.settings,
    PROCESSORS: [
      { name: 'first', address: b.address },
      { name: 'b', address: a.address },
    ],
  });

  it('is not sent anything, and asked nothing', async () => {
    const { capture } = await acme.capture(await acme.hold(), 500n);
    assert.equal(capture?.state, OperationState.UNKNOWN);
    const [heardByA, heardByB] = [a.heard.length, b.heard.length];
    const core = await startCore({ ...swapped(), CORE_PORT: 0, CONNECT_PORT: 0 });
    stage.cores.push(core);
    const processors = openProcessors(swapped(), { identities: identitiesIn(stage.database, log) });
    try {
      stage.clock.advance(60_000);
      await workOnce(inquiries({ ...stage.recovery, processors }));
      const { operation } = await acme.operations.getOperation({ merchantId: 'acme', requestId: capture.requestId });
      assert.equal(operation?.state, OperationState.UNKNOWN, 'money that may be done does not become never_received');
      const { holds } = stage.channel('gateway', 1);
      const fields = { merchantId: 'acme', currency: 'EUR', terminalId: 'T1', userId: 'u', tokenId: 'tok', amount: 1n };
      // Until the new core has asked who it is, a hold is stored, and not sent.
      while ((await why(holds.createPreauthorization(fields)).catch(() => 'STORED')) !== 'UNAVAILABLE') await delay(10);
      assert.deepEqual([a.heard.length, b.heard.length], [heardByA, heardByB]);
      const parts = {
        databaseUrl: stage.settings.DATABASE_URL,
        processors: ledgersOf(processors),
        most: 5,
        patienceMs: 0,
      };
      const { unread } = await audit(parts);
      assert.deepEqual(unread.map((why) => /processor (\w+) does not answer/.exec(why)?.[1]).sort(), ['b', 'first']);
    } finally {
      processors.close();
      stage.cores.pop();
      await core.close();
    }
  });

  it('is noticed when it takes the place of the right one, which is called again when it is back', async () => {
    await acme.hold();
    const right = a.is;
    a.is = { ...right, identity: 'another' };
    await a.restart();
    const heard = a.heard.length;
    while ((await why(acme.place()).catch(() => 'STORED')) !== 'UNAVAILABLE') await delay(10);
    assert.equal(a.heard.length, heard);
    a.is = right;
    await a.restart();
    while (a.heard.length === heard) await acme.place().catch(() => delay(50));
    const [row] = await sql<{ identity: string }>(stage, `select * from processor_identity where processor = 'first'`);
    assert.equal(row?.identity, right.identity);
  });
});
