/** `.ci/run` itself, with made-up tests: npm and the programs that it would install are replaced. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtempDisposable, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';

const PASSES = "it('passes', () => {});";
const FAILS = "it('fails', () => { throw new Error('as planned'); });";
/** Fails when the file is run for the first time, as it leaves a mark. */
const FAILS_ONCE = `
  const { existsSync, writeFileSync } = require('node:fs');
  it('fails once', () => {
    if (existsSync(__filename + '.mark')) return;
    writeFileSync(__filename + '.mark', '');
    throw new Error('by chance');
  });`;

describe('.ci/run', () => {
  it('passes with what passes', async () => {
    const { status, said } = await run({ 'test/a.cjs': PASSES }, { 'test/b.cjs': PASSES });
    assert.match(said, /\n2 passed, 0 failed, 0 skipped\n$/);
    assert.equal(status, 0, said);
  });

  it('runs what failed once more, alone, and names it when it passes then', async () => {
    const { status, said } = await run({ 'test/a.cjs': PASSES, 'test/once.cjs': FAILS_ONCE }, { 'test/b.cjs': PASSES });
    assert.match(said, /^run once more, alone: test\/once\.cjs$/m);
    assert.match(said, /\npassed only when run alone: fails once \(test\/once\.cjs\)\nError: by chance\n/);
    assert.match(said, /\n3 passed, 0 failed, 0 skipped\n$/);
    assert.equal(status, 0, said);
  });

  it('fails with what fails twice, and repeats it at the end', async () => {
    const { status, said } = await run({ 'test/a.cjs': PASSES, 'test/fails.cjs': FAILS }, { 'test/b.cjs': PASSES });
    assert.match(
      said,
      /\nfailed: fails \(test\/fails\.cjs\)\nError: as planned\n[\s\S]*\n2 passed, 1 failed, 0 skipped\n$/,
    );
    assert.equal(status, 1);
  });

  it('runs nothing again when many files failed', async () => {
    const many = Object.fromEntries([1, 2, 3, 4].map((index) => [`test/${index}.cjs`, FAILS_ONCE]));
    const { status, said } = await run({ 'test/a.cjs': PASSES, ...many }, { 'test/b.cjs': PASSES });
    assert.doesNotMatch(said, /once more/);
    assert.match(said, /\n2 passed, 4 failed, 0 skipped\n$/);
    assert.equal(status, 1);
  });

  it('prints what the hot paths cost before its counts, and passes without these figures', async () => {
    const passing = [{ 'test/a.cjs': PASSES }, { 'test/b.cjs': PASSES }] as const;
    const measured = await run(...passing, 'echo "as kept"');
    assert.match(measured.said, /\nas kept\n2 passed, 0 failed, 0 skipped\n$/);
    const failing = await run(...passing, 'exit 1');
    assert.match(failing.said, /\nnpm run bench -- --quick has no figures\n2 passed, 0 failed, 0 skipped\n$/);
    assert.equal(failing.status, 0);
  });

  it('fails when no test ran', async () => {
    const { status } = await run({ 'test/a.cjs': PASSES }, { 'test/b.cjs': '' });
    assert.equal(status, 1);
  });
});

/** Runs a copy in a folder where `npm test` and `npm run test:long` play the files given, and the bench a command. */
async function run(short: Readonly<Record<string, string>>, long: Readonly<Record<string, string>>, bench = ':') {
  await using folder = await mkdtempDisposable(`${tmpdir()}/holdfast-run-`);
  const { path } = folder;
  for (const name of ['.ci', 'bin', 'test']) await mkdir(`${path}/${name}`);
  await cp('.ci/run', `${path}/.ci/run`);
  await cp('.ci/count-reporter.ts', `${path}/.ci/count-reporter.ts`);
  await symlink(`${process.cwd()}/node_modules`, `${path}/node_modules`);
  await writeFile(`${path}/package.json`, '{"type":"module"}');
  for (const [name, code] of Object.entries({ ...short, ...long })) await writeFile(`${path}/${name}`, code);
  // What follows `--` in the call is for mocha.
  const mocha = `exec "${process.execPath}" node_modules/mocha/bin/mocha.js --no-config`;
  const programs: Readonly<Record<string, string>> = {
    npm: `case "$1 $2" in
      "run test") shift 3; ${mocha} "$@" ${Object.keys(short).join(' ')} ;;
      "run --silent") ${bench} ;;
      "run test:long") shift 3; ${mocha} "$@" ${Object.keys(long).join(' ')} ;;
    esac`,
    npx: `shift; ${mocha} "$@"`,
    ...Object.fromEntries(
      ['chromium', 'redis-server', 'curl', 'openssl', 'python3', 'php', 'mypy'].map((each) => [each, '']),
    ),
  };
  for (const [name, code] of Object.entries(programs)) {
    await writeFile(`${path}/bin/${name}`, `#!/bin/bash\n${code}\n`);
    await chmod(`${path}/bin/${name}`, 0o755);
  }
  const { TEST_RUNNING: _, ...env } = process.env;
  const ci = spawn('bash', [`${path}/.ci/run`], {
    env: { ...env, PATH: `${path}/bin:${env.PATH}` },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const said = text(ci.stdout);
  const [status] = await once(ci, 'exit');
  return { status: status as number, said: await said };
}
