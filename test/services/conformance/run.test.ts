import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog } from '../../../platform/log.ts';
import { readSettings } from '../../../platform/settings.ts';
import { parseProfile, readProfile } from '../../../services/conformance/profile.ts';
import { runConformance, type Verdict } from '../../../services/conformance/run.ts';
import { freePort } from '../../../services/quickstart/ports.ts';
import { type Sandbox, startSandbox } from '../../../services/sandbox/sandbox.ts';
import { SANDBOX_SETTINGS } from '../../../services/sandbox/settings.ts';
import { FAULTS } from './faults.ts';
import { type Liar, startLiar } from './liar.ts';

const CREDENTIAL = 'a-credential-that-only-the-kit-may-show';
const TOKEN = 'a-token-that-the-sandbox-shows-to-the-kit';

describe('runConformance()', function () {
  this.timeout(60_000);
  let directory: string;
  let sandbox: Sandbox;
  let liar: Liar;
  let events: string;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-conformance-'));
    events = `127.0.0.1:${await freePort()}`;
    liar = await startLiar(() => `127.0.0.1:${sandbox.grpcPort}`, CREDENTIAL, events, TOKEN);
    const settings = readSettings(SANDBOX_SETTINGS, {
      SANDBOX_PORT: '0',
      CHECKOUT_PORT: '0',
      SANDBOX_LEDGER: join(directory, 'sandbox.sqlite'),
      CORE_URL: liar.core,
      PROCESSOR_TOKEN: TOKEN,
      PROCESSOR_CREDENTIAL: CREDENTIAL,
      LOG_LEVEL: 'silent',
    });
    sandbox = await startSandbox(settings, { log: openLog('sandbox', 'silent') });
  });
  after(async () => {
    liar.close();
    await sandbox.close();
    rmSync(directory, { recursive: true });
  });

  const { process: _, ...asShipped } = readProfile('services/sandbox/conformance.json');
  const judge = (only: readonly string[] = [], profile = parseProfile({ ...asShipped, eventWithinMs: 4_000 })) => {
    const address = { processor: liar.processor, events };
    return runConformance({ ...address, credential: CREDENTIAL, eventsToken: TOKEN, only, kills: 1 }, profile);
  };
  const failedOf = (verdicts: readonly Verdict[]) => verdicts.filter(({ outcome }) => outcome === 'failed');

  it('finds no fault with an honest processor', async () => {
    const checks = FAULTS.flatMap((fault) => fault.checks);
    const verdicts = await judge(checks);
    assert.deepEqual(failedOf(verdicts), []);
    assert.ok(verdicts.length >= new Set(checks).size);
    assert.ok(verdicts.every(({ outcome }) => outcome === 'passed'));
  });

  for (const { name, checks, why, lie } of FAULTS) {
    it(`notices: ${name}`, async () => {
      liar.lie = lie();
      try {
        const [noticed, ...others] = failedOf(await judge(checks));
        assert.ok(noticed, 'no check failed');
        assert.deepEqual(others, []);
        assert.ok(noticed.name.startsWith(checks.at(-1) as string), noticed.name);
        assert.match(noticed.why, why);
      } finally {
        liar.lie = {};
      }
    });
  }

  it('notices: features that differ from the profile', async () => {
    const features = asShipped.features.filter((feature) => feature !== 'refunds');
    const [noticed] = failedOf(await judge(['describe: says'], parseProfile({ ...asShipped, features })));
    assert.match(noticed?.why ?? '', /the features that Describe names/);
  });

  it('skips checks for which the profile has no token', async () => {
    const tokens = { approved: asShipped.tokens.approved };
    const verdicts = await judge(
      ['declined', 'accepted', 'events: a reversal of the whole'],
      parseProfile({ ...asShipped, tokens }),
    );
    for (const { outcome, why } of verdicts) {
      assert.equal(outcome, 'skipped');
      assert.match(why, /^the profile names no token tokens\./);
    }
  });

  it("throws when the adapter does not answer, or the kit's own port is in use", async () => {
    const options = { credential: '', eventsToken: '', only: [], kills: 1 };
    const nobody = `127.0.0.1:${await freePort()}`;
    await assert.rejects(
      runConformance({ ...options, processor: nobody, events: '127.0.0.1:0' }, asShipped),
      /Describe failed/,
    );
    const taken = { ...options, processor: nobody, events: liar.core };
    await assert.rejects(runConformance(taken, asShipped), /--events: cannot listen/);
  });
});
