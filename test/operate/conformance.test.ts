import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../services/quickstart/ports.ts';
import { atNight } from '../at-night.ts';
import { startLiar } from '../services/conformance/liar.ts';

/** What is forgotten, how, the checks that run, and the one that notices. */
const FORGOTTEN = [
  [
    'what accepted captures hold back',
    // It ends later than a busy machine takes to start the processor again.
    "UPDATE entry SET pending = 0; UPDATE event SET dueAtMs = dueAtMs + 6000 WHERE kind = 'operationSettled'",
    ['kill -9: an accepted capture'],
    /^FAILED kill -9: an accepted capture holds back what it takes\n +was answered ACCEPTED meanwhile/m,
  ],
  [
    'fences',
    "DELETE FROM entry WHERE kind = 'fence'",
    ['capture: fenced, it never acts', 'kill -9: afterwards'],
    /^FAILED kill -9: afterwards .*fences hold, and nothing is done twice\n +an identifier that was fenced: was answered APPROVED/m,
  ],
] as const;

describe('npm run conformance', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-conformance-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** Runs the kit against the sandbox, with its shipped profile, on ports and a ledger of its own. */
  async function judge(change: (command: string[], ledger: string, events: string) => string[], ...args: string[]) {
    const profile = JSON.parse(readFileSync('services/sandbox/conformance.json', 'utf8'));
    const [port, core] = [await freePort(), await freePort()];
    const ledger = join(directory, 'sandbox.sqlite');
    const { env } = profile.process;
    Object.assign(env, { SANDBOX_PORT: `${port}`, CORE_URL: `127.0.0.1:${core}`, SANDBOX_LEDGER: ledger });
    profile.process.command = change([process.execPath, ...profile.process.command.slice(1)], ledger, env.CORE_URL);
    const file = join(directory, 'profile.json');
    writeFileSync(file, JSON.stringify(profile));
    const options = ['--processor', `127.0.0.1:${port}`, '--events', `127.0.0.1:${core}`, '--profile', file, ...args];
    const tokens = ['--credential', env.PROCESSOR_CREDENTIAL, '--events-token', env.PROCESSOR_TOKEN];
    return run(['services/conformance/index.ts', ...options, ...tokens]);
  }

  it('finds no fault with the sandbox, however often it is killed, and skips only checks of missing features', async () => {
    const { code, stdout, stderr } = await judge((command) => command, '--kills', atNight('10', '2'));
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /^2\d\d passed, 0 failed, 0 skipped, \d+ no matter of this processor$/m);
  });

  it('notices a processor that loses its memory when it is killed', async () => {
    const forget = (command: string[], ledger: string) => [
      '/bin/sh',
      '-c',
      `rm -f ${ledger}*; exec ${command.join(' ')}`,
    ];
    const { code, stdout } = await judge(forget, '--only', 'kill -9', '--kills', '1');
    assert.equal(code, 1);
    assert.match(stdout, /^FAILED kill -9: at any moment, nothing answered is lost and nothing is done twice$/m);
    assert.match(stdout, /^FAILED kill -9: an event that was due still comes$/m);
    assert.match(stdout, /^FAILED kill -9: the identity of its books stays$/m);
  });

  for (const [what, statement, only, name] of FORGOTTEN) {
    it(`notices a processor that forgets ${what} when it is killed`, async () => {
      const script = (ledger: string) =>
        `const { DatabaseSync } = require('node:sqlite'); const ledger = new DatabaseSync('${ledger}');
        if (ledger.prepare('PRAGMA user_version').get().user_version > 0) ledger.exec("${statement}")`;
      const forget = (command: string[], ledger: string) => [
        '/bin/sh',
        '-c',
        `"$0" -e "$1"; exec ${command.join(' ')}`,
        process.execPath,
        script(ledger),
      ];
      const { code, stdout } = await judge(forget, ...only.flatMap((text) => ['--only', text]), '--kills', '1');
      assert.equal(code, 1, stdout);
      assert.match(stdout, name);
    });
  }

  it('notices an event that has another identifier after a restart', async () => {
    let events = '';
    const liar = await startLiar({
      sandbox: () => assert.fail('the kit calls the sandbox itself'),
      credential: () => '',
      events: () => events,
      token: () => 'a-token-for-the-conformance-kit-only',
    });
    liar.lie = { reportEvent: (request, forward) => forward({ ...request, eventId: randomUUID() }) };
    const through = (command: string[], _: string, address: string) => {
      events = address;
      return ['/usr/bin/env', `CORE_URL=${liar.core}`, ...command];
    };
    const { code, stdout } = await judge(through, '--only', 'comes again under its event_id');
    liar.close();
    assert.equal(code, 1);
    assert.match(stdout, /^FAILED kill -9: an event that was refused comes again .*\n +the event_id after a restart$/m);
  });
});

function run(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 10_000_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr });
    });
  });
}
