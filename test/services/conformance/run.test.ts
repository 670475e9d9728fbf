import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { openLog } from '../../../platform/log.ts';
import { readSettings } from '../../../platform/settings.ts';
import { Answer, CurrencyBoundsSchema } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { parseProfile, readProfile } from '../../../services/conformance/profile.ts';
import { codeOf, runConformance, type Verdict } from '../../../services/conformance/run.ts';
import { freePort } from '../../../services/quickstart/ports.ts';
import { type Sandbox, startSandbox } from '../../../services/sandbox/sandbox.ts';
import { SANDBOX_SETTINGS } from '../../../services/sandbox/settings.ts';
import { telling } from './faults/fault.ts';
import { refusingByStatus } from './faults/refusals.ts';
import { FAULTS } from './faults.ts';
import { startLiar } from './liar.ts';

const CREDENTIAL = 'a-credential-that-only-the-kit-may-show';
const TOKEN = 'a-token-that-the-sandbox-shows-to-the-kit';

/** A sandbox behind a liar, and an address for the kit's inbox. */
async function startRig() {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-conformance-'));
  const events = `127.0.0.1:${await freePort()}`;
  let sandbox: Sandbox;
  const liar = await startLiar({
    sandbox: () => `127.0.0.1:${sandbox.grpcPort}`,
    credential: () => CREDENTIAL,
    events: () => events,
    token: () => TOKEN,
  });
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
  return {
    liar,
    events,
    async close() {
      liar.close();
      await sandbox.close();
      rmSync(directory, { recursive: true });
    },
  };
}
type Rig = Awaited<ReturnType<typeof startRig>>;

/** The faults wait for events more than they work. */
const RIGS = 8;

describe('runConformance()', () => {
  const rigs: Rig[] = [];
  before(async () => {
    for (let count = 0; count < RIGS; count++) rigs.push(await startRig());
  });
  after(() => Promise.all(rigs.map((rig) => rig.close())));

  const { process: _, ...asShipped } = readProfile('services/sandbox/conformance.json');
  const within = (eventWithinMs: number, repeatAfterMs = 1) =>
    parseProfile({ ...asShipped, eventWithinMs, repeatAfterMs });
  const judge = (only: readonly string[] = [], profile = within(60_000), rig = rigs[0]) => {
    assert(rig);
    const address = { processor: rig.liar.processor, events: rig.events };
    return runConformance({ ...address, credential: CREDENTIAL, eventsToken: TOKEN, only, kills: 1 }, profile);
  };
  const failedOf = (verdicts: readonly Verdict[]) => verdicts.filter(({ outcome }) => outcome === 'failed');

  it('finds no fault with an honest processor', async () => {
    const checks = FAULTS.flatMap((fault) => fault.checks);
    const verdicts = await judge(checks);
    assert.deepEqual(failedOf(verdicts), []);
    for (const check of checks)
      assert.ok(
        verdicts.some(({ name }) => name.startsWith(check)),
        check,
      );
    const unjudged = verdicts.filter(({ outcome }) => outcome === 'skipped');
    assert.deepEqual(unjudged, []);
  });

  describe('of an adapter with one fault', () => {
    const found = new Map<string, Promise<readonly Verdict[]>>();
    before(() => {
      const free = rigs.map((rig) => Promise.resolve(rig));
      for (const [index, fault] of FAULTS.entries()) {
        const { name, checks, lie, eventWithinMs = 60_000, repeatAfterMs } = fault;
        const judged = (free[index % RIGS] as Promise<Rig>).then(async (rig) => {
          rig.liar.lie = lie();
          const verdicts = await judge(checks, within(eventWithinMs, repeatAfterMs), rig);
          rig.liar.lie = {};
          return { rig, verdicts };
        });
        free[index % RIGS] = judged.then(({ rig }) => rig);
        found.set(
          name,
          judged.then(({ verdicts }) => failedOf(verdicts)),
        );
      }
    });

    for (const { name, checks, why } of FAULTS) {
      it(`notices: ${name}`, async () => {
        const [noticed, ...others] = (await found.get(name)) ?? [];
        assert.ok(noticed, 'no check failed');
        assert.deepEqual(others, []);
        assert.ok(noticed.name.startsWith(checks.at(-1) as string), noticed.name);
        assert.match(noticed.why, why);
      });
    }
  });

  it('finds no fault with a processor that accepts captures and ends them later', async () => {
    const tokens = { approved: 'tok_sandbox_capture_accepted', capture: { accepted: 'tok_sandbox_capture_accepted' } };
    const checks = ['capture: ', 'captures: ', 'refunds: ', 'books: '];
    const verdicts = await judge(checks, parseProfile({ ...asShipped, tokens, eventWithinMs: 60_000 }));
    assert.deepEqual(failedOf(verdicts), []);
    assert(verdicts.filter(({ outcome }) => outcome === 'passed').length > 20);
  });

  it('finds no fault with an adapter that is UNAVAILABLE now and then, before it acts or afterwards', async () => {
    const [rig] = rigs;
    assert(rig);
    const triesOf = new Map<string, number>();
    let unavailable = 0;
    const slowly = (method: string) => async (request: object, forward: (request: object) => Promise<object>) => {
      const { requestId = '' } = request as { requestId?: string };
      const tries = (triesOf.get(method + requestId) ?? 0) + 1;
      triesOf.set(method + requestId, tries);
      // By chance: every third could be the same call of every try of a check.
      const isSlow = hash('md5', method + requestId, 'buffer').readUInt32BE() % 8 === 0 && tries <= 2;
      // The first time it does nothing, the second time its answer comes too late.
      const answer = isSlow && tries === 1 ? undefined : await forward(request);
      if (answer && !isSlow) return answer;
      unavailable++;
      throw Object.assign(new Error('the processor is slow'), { code: status.UNAVAILABLE });
    };
    const operations = ['authorize', 'capture', 'void', 'incrementAuthorization', 'extendAuthorization', 'refund'];
    const methods = [...operations, 'credit', 'inquire', 'listEntries'];
    rig.liar.lie = Object.fromEntries(methods.map((method) => [method, slowly(method)]));
    const kinds = ['authorization: ', 'capture: ', 'captures: ', 'calls together: ', 'again: ', 'books: '];
    const verdicts = await judge(kinds).finally(() => {
      rig.liar.lie = {};
    });
    // This one is UNAVAILABLE to strangers, too.
    const failed = failedOf(verdicts).filter(({ name }) => !name.startsWith('credential: '));
    assert.deepEqual(failed, []);
    assert(unavailable > 100);
  });

  it('finds no fault with what the contract leaves open', async () => {
    const [rig] = rigs;
    assert(rig);
    const statusOf = (errorCode: string) =>
      ({ fenced: status.FAILED_PRECONDITION, identifier_reused: status.ALREADY_EXISTS })[errorCode];
    const boundsOf = (currency: string) =>
      create(CurrencyBoundsSchema, { currency, smallestAmount: 25n, largestAmount: 10_000n });
    rig.liar.lie = {
      ...refusingByStatus('authorize', statusOf),
      async createCheckout(request, forward) {
        const { expiresAt: _, ...page } = await forward(request);
        return page as never;
      },
      // An adapter may not know what it gave back.
      ...telling('void', () => ({ amountReleased: undefined })),
      ...telling('capture', () => ({ amountReleased: undefined })),
      describe: async (request, forward) => ({
        ...(await forward(request)),
        currencies: ['EUR', 'USD'].map(boundsOf),
      }),
    };
    const checks = ['authorization: ', 'checkouts: ', 'describe: ', 'capture: approved', 'void: approved', 'voids: '];
    const judged = judge(checks, parseProfile({ ...asShipped, amount: 510 }));
    const verdicts = await judged.finally(() => {
      rig.liar.lie = {};
    });
    assert.deepEqual(failedOf(verdicts), []);
  });

  it('passes an adapter that can do little, when it does all of that', async () => {
    const [rig] = rigs;
    assert(rig);
    const denied = {
      severalCaptures: false,
      increments: false,
      partialRelease: false,
      extension: false,
      refunds: false,
    };
    const refuses = telling('credit', () => ({
      answer: Answer.NOT_PERFORMED,
      errorCode: 'not_supported',
      reference: '',
      bankReference: '',
    }));
    rig.liar.lie = {
      ...refuses,
      async describe(request, forward) {
        const description = await forward(request);
        const { authorizations } = description;
        return {
          ...description,
          checkouts: false,
          savedCards: false,
          stepUp: false,
          renewals: false,
          credits: false,
          ...(authorizations && { authorizations: { ...authorizations, ...denied } }),
        };
      },
      createCheckout: async () => {
        throw Object.assign(new Error('none'), { code: status.UNIMPLEMENTED });
      },
    };
    const { authorization, capture, void: voids } = asShipped.tokens;
    const tokens = {
      approved: 'tok_sandbox_capture_only',
      unknown: asShipped.tokens.unknown,
      authorization,
      capture,
      void: voids,
    };
    const only = [
      'credit: ',
      'increment: refused',
      'decrease: refused',
      'step-up: no page',
      'extension: refused',
      'refund: refused',
      'captures: ',
      'checkouts: ',
      'describe: ',
    ];
    const features = ['accepts', 'fences', 'guaranteedUntil'];
    const verdicts = await judge(only, parseProfile({ ...asShipped, features, tokens })).finally(() => {
      rig.liar.lie = {};
    });
    assert.deepEqual(failedOf(verdicts), []);
    assert(verdicts.some(({ outcome }) => outcome === 'noMatter'));
    assert.equal(codeOf(verdicts), 0);
  });

  it('ends its own calls when the adapter refuses one of several', async () => {
    for (let round = 0; round < 8; round++) assert.deepEqual(failedOf(await judge(['credential'])), []);
  });

  it('notices: features that differ from the profile', async () => {
    const features = asShipped.features.filter((feature) => feature !== 'refunds');
    const [noticed] = failedOf(await judge(['describe: says'], parseProfile({ ...asShipped, features })));
    assert.match(noticed?.why ?? '', /the features that Describe names/);
  });

  it('skips checks for which the profile has no token', async () => {
    const tokens = { approved: asShipped.tokens.approved };
    const verdicts = await judge(
      ['declined', 'accepted, it ends', 'events: a reversal of the whole'],
      parseProfile({ ...asShipped, tokens }),
    );
    for (const { outcome, why } of verdicts) {
      assert.equal(outcome, 'skipped');
      assert.match(why, /^the profile names no token tokens\./);
    }
  });

  it('throws when no check has such a name', async () => {
    await assert.rejects(judge(['no-such-check']), { message: '--only: no check has such a name' });
  });

  it('throws when it cannot start the adapter, or another one answers in its place', async () => {
    const process = (script: string) =>
      parseProfile({ ...asShipped, process: { command: ['/bin/sh', '-c', script], readyWithinMs: 30_000 } });
    await assert.rejects(judge([], process('exit 0')), /the adapter is not started: something answers at its address/);
    const options = { credential: '', eventsToken: '', only: [], kills: 1, events: '127.0.0.1:0' };
    const nobody = { ...options, processor: `127.0.0.1:${await freePort()}` };
    for (const script of ['exit 3', 'kill -9 $$'])
      await assert.rejects(runConformance(nobody, process(script)), /the adapter ended before it answered/);
  });

  it("throws when the adapter does not answer, or the kit's own port is in use", async () => {
    const options = { credential: '', eventsToken: '', only: [], kills: 1 };
    const nobody = `127.0.0.1:${await freePort()}`;
    await assert.rejects(
      runConformance({ ...options, processor: nobody, events: '127.0.0.1:0' }, asShipped),
      /Describe failed/,
    );
    const taken = { ...options, processor: nobody, events: rigs[0]?.liar.core ?? '' };
    await assert.rejects(runConformance(taken, asShipped), /--events: cannot listen/);
  });
});
