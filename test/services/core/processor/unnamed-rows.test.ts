import assert from 'node:assert/strict';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { openProcessors, rowsByProcessor } from '../../../../services/core/processor/processors.ts';
import { inquiries } from '../../../../services/core/recovery/inquire.ts';
import { workOnce } from '../../../../services/core/scheduling/work-loop.ts';
import { startCore } from '../../../../services/core/start-core.ts';
import { startWorker } from '../../../../services/core/start-worker.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../desk.ts';
import { approved, done, neverSeen, startFakeProcessor } from '../fake-processor.ts';
import { contract, openStage } from '../stage.ts';

const CREDENTIALS = { 'PROCESSOR_<NAME>_CREDENTIAL': { ADDED: 'a', OLD: 'o', DEFAULT: 'o' } };

describe('rows stored with PROCESSOR_URL, or before processors had names', function () {
  this.timeout(60_000);
  const old = forSuite(startFakeProcessor);
  const added = forSuite(startFakeProcessor);
  const stage = forSuite(() => openStage({ processor: old.address, processorTimeoutMs: 500 }));
  const acme = forSuite(() => openMerchant(stage, 'acme'));

  /** A capture that the old processor has performed, with a lost answer. */
  async function chargedWithoutAnswer(): Promise<string> {
    old.says = { authorize: () => approved, inquire: () => done(approved) };
    added.says = { inquire: () => neverSeen };
    const { capture } = await acme.capture(await acme.hold(), 10_000n);
    stage.clock.advance(60_000);
    return capture?.requestId ?? '';
  }

  for (const name of ['default', '']) {
    it(`stays at its processor, whichever PROCESSORS lists first (stored as '${name}')`, async () => {
      const requestId = await chargedWithoutAnswer();
      for (const table of ['hold', 'capture']) await sql(stage, `update ${table} set processor = $1`, [name]);
      const PROCESSORS = [
        { name: 'added', address: added.address },
        { name: 'old', address: old.address },
      ];
      await recoverWith({ PROCESSORS, PROCESSOR_URL: old.address });
      assert.equal(await stateOf(requestId), OperationState.OK);
      assert.deepEqual(added.heard, []);
    });
  }

  it('belong to the processor that PROCESSORS calls default', async () => {
    const requestId = await chargedWithoutAnswer();
    await recoverWith({ PROCESSORS: [...ADDED(), { name: 'default', address: old.address }] });
    assert.equal(await stateOf(requestId), OperationState.OK);
  });

  it('cause no inquiry while PROCESSORS does not name their processor, and prevent core and worker from starting', async () => {
    const requestId = await chargedWithoutAnswer();
    await recoverWith({ PROCESSORS: ADDED() });
    assert.equal(await stateOf(requestId), OperationState.UNKNOWN);
    assert.deepEqual(added.heard, []);
    const named = { ...stage.settings, PROCESSORS: ADDED(), PROCESSOR_URL: undefined };
    const refused = /^settings: PROCESSOR_URL is needed beside PROCESSORS: /;
    await assert.rejects(startCore({ ...named, CORE_PORT: 0 }), ({ message }) => refused.test(message));
    const worker = { ...named, WEBHOOK_ALLOWED_CIDRS: [], INTERNAL_ALLOWED_CIDRS: [], RETENTION_DAYS: 90 } as never;
    await assert.rejects(startWorker(worker), ({ message }) => refused.test(message));
    stage.clock.advance(60_000);
    await recoverWith({ PROCESSOR_URL: old.address });
    assert.equal(await stateOf(requestId), OperationState.OK);
  });

  it('do not prevent a start when none of them is open', async () => {
    await sql(stage, "update hold set processor = 'added' where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')");
    const core = await startCore({ ...stage.settings, PROCESSORS: ADDED(), PROCESSOR_URL: undefined, CORE_PORT: 0 });
    await core.close();
  });

  it('include the contracts of merchants', async () => {
    const settings = {
      ...stage.settings,
      ...CREDENTIALS,
      PROCESSORS: [...ADDED(), { name: 'old', address: old.address }],
      CORE_PORT: 0,
    };
    const core = await startCore(settings, { clock: () => new Date(stage.clock.now()) });
    stage.cores.push(core);
    try {
      const { merchants } = stage.channel('operator', 1);
      await merchants.createMerchant({
        merchantId: 'beta',
        name: 'Beta',
        contract: contract({ processor: 'default' }),
      });
      assert.equal((await merchants.getMerchant({ merchantId: 'beta' })).merchant?.contract?.processor, 'old');
      const { holds: gateway } = stage.channel('gateway', 1);
      old.says.authorize = () => approved;
      const fields = { currency: 'EUR', terminalId: 'T1', userId: 'u', tokenId: 'tok', amount: 100n };
      const { preauthorization } = await gateway.createPreauthorization({ merchantId: 'beta', ...fields });
      const rows = await sql(stage, 'select processor from hold where request_id = $1', [preauthorization?.requestId]);
      assert.deepEqual(rows, [{ processor: 'old' }]);
    } finally {
      stage.cores.pop();
      await core.close();
    }
  });

  const ADDED = () => [{ name: 'added', address: added.address }];

  async function recoverWith(settings: object): Promise<void> {
    const none = { PROCESSOR_URL: undefined, PROCESSORS: undefined, ...CREDENTIALS };
    const processors = openProcessors({ ...stage.settings, ...none, ...settings });
    // As in a worker: each processor has its own loop.
    for (const at of rowsByProcessor(processors)) {
      await workOnce(inquiries({ ...stage.recovery, processors }, at));
    }
    processors.close();
  }

  async function stateOf(requestId: string): Promise<OperationState | undefined> {
    return (await acme.operations.getOperation({ merchantId: 'acme', requestId })).operation?.state;
  }
});
