/** An adapter that is killed at each moment of a step-up. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { credentials } from '@grpc/grpc-js';
import { openChannel } from '../../platform/grpc-client.ts';
import { ProcessorService } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { freePort } from '../../services/quickstart/ports.ts';
import { createDatabase, type TestDatabase } from '../database.ts';
import { answerIssuer, goOn, open } from '../services/adyen/fake/customer.ts';
import { type FakeAdyen, type Fault, startFakeAdyen } from '../services/adyen/fake/fake-adyen.ts';
import { inquiryOf, settingsOf } from '../services/adyen/fixture.ts';
import { asked, RETURN_URL, said } from '../services/adyen/step-up-fixture.ts';
import { type FakeCore, startFakeCore } from '../services/sandbox/fake-core.ts';
import { forSuite } from '../suite.ts';

/** An adapter in a process of its own, over fakes. */
async function startKillable() {
  const [database, adyen, core]: [TestDatabase, FakeAdyen, FakeCore] = await Promise.all([
    createDatabase(),
    startFakeAdyen(),
    startFakeCore(),
  ]);
  const [grpcPort, pagePort] = [await freePort(), await freePort()];
  const settings = settingsOf(database.url, adyen.origin, core.url);
  const pages = { ADYEN_PAGE_ORIGIN: `http://127.0.0.1:${pagePort}`, ADYEN_PAGE_PORT: `${pagePort}` };
  const env = { ...process.env, ...settings, ...pages, ADYEN_PORT: `${grpcPort}`, LOG_LEVEL: 'silent' };
  const channel = openChannel({
    address: `127.0.0.1:${grpcPort}`,
    credentials: credentials.createInsecure(),
    token: settings.PROCESSOR_CREDENTIAL ?? '',
    timeoutMs: 30_000,
  });
  const client = channel.client(ProcessorService);
  let child: ChildProcess;
  const start = async () => {
    child = spawn(process.execPath, ['services/adyen/index.ts'], { env, stdio: 'ignore' });
    for (;;) {
      try {
        await client.describe({});
        return;
      } catch {
        assert.equal(child.exitCode, null, 'it starts');
      }
    }
  };
  await start();
  return {
    adyen,
    core,
    client,
    start,
    /** Kills it as power failures do. */
    async kill() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    async close() {
      await this.kill();
      channel.close();
      core.close();
      await adyen.close();
      await database.drop();
      assert.deepEqual(adyen.violations, []);
    },
  };
}

describe('an adapter to Adyen that is killed during a step-up', function () {
  this.timeout(120_000);
  const killable = forSuite(startKillable);
  const result = async (hold: ReturnType<typeof asked>) => (await killable.client.inquire(inquiryOf(hold))).result;

  /** Kills it when Adyen has a request, which the fault says whether Adyen has acted on. */
  async function killedAt<T>(path: string, fault: Fault | undefined, act: () => Promise<T>): Promise<void> {
    const { adyen } = killable;
    let killed: Promise<void> | undefined;
    adyen.onRequest = (asked) => {
      if (asked !== path || killed) return;
      if (fault) adyen.faults.push(fault);
      killed = killable.kill();
    };
    await act().catch(() => undefined);
    adyen.onRequest = () => undefined;
    assert(killed, `${path} was asked`);
    await killed;
    await killable.start();
  }

  const moments: readonly [string, string, Fault][] = [
    ['/payments', 'before Adyen acts', 'lost'],
    ['/payments', 'after Adyen acted', 'answerLost'],
    ['/payments/details', 'before Adyen looked', 'lost'],
    ['/payments/details', 'after Adyen looked', 'answerLost'],
  ];
  for (const [path, moment, fault] of moments) {
    it(`makes one payment and finds its end: ${path}, ${moment}`, async () => {
      const { adyen, client, core } = killable;
      const hold = asked();
      const page = (await client.authorize(hold)).result?.nextAction?.url ?? '';
      if (path === '/payments') await killedAt(path, fault, () => goOn(page));
      const { location = '' } = await goOn(page);
      const back = await answerIssuer(location, 'confirm');
      if (path === '/payments') await open(back);
      else await killedAt(path, fault, () => open(back));
      const { location: onwards } = await open(back);
      assert.equal(onwards, `${RETURN_URL}&requestId=${hold.requestId}`);
      assert.deepEqual(said(await result(hold)), ['APPROVED', '']);
      const payments = [...adyen.payments.values()].filter(({ reference }) => reference === hold.requestId);
      assert.equal(payments.length, 1);
      while (
        !core.received.some(
          ({ event }) => event.case === 'operationSettled' && event.value.requestId === hold.requestId,
        )
      ) {
        await core.next();
      }
    });
  }

  it('keeps its page when it is killed before the customer has opened it', async () => {
    const hold = asked();
    const before = (await killable.client.authorize(hold)).result;
    await killable.kill();
    await killable.start();
    assert.deepEqual(await result(hold), before);
    assert.equal((await goOn(before?.nextAction?.url ?? '')).status, 303);
  });
});
