import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { runChild, startChild } from '../../../services/quickstart/child.ts';
import { openDataDir } from '../../../services/quickstart/data-dir.ts';

describe('startChild()', () => {
  let dataDir: string;
  const never = new AbortController().signal;

  const options = (behaviour: string) => ({
    name: 'fixture',
    entry: 'test/services/quickstart/child-fixture.ts',
    environment: { BEHAVIOUR: behaviour },
    dataDir,
  });

  before(async () => {
    dataDir = await mkdtemp(`${tmpdir()}/holdfast-child-`);
    (await openDataDir(dataDir)).close();
  });

  after(() => rm(dataDir, { recursive: true }));

  it('resolves once the process is ready, and leaves nothing behind when it is stopped', async () => {
    const child = await startChild(options('serve'), never);
    const pid = Number(await readFile(`${dataDir}/run/fixture.pid`, 'utf8'));
    process.kill(pid, 0);
    assert.equal((await stat(`${dataDir}/logs/fixture.log`)).mode & 0o777, 0o600);
    await child.stop();
    assert.equal(await child.exited, 'exit code 0');
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
    assert.deepEqual(await readdir(`${dataDir}/run`), ['lock']);
  });

  it('can be found by the next launcher as soon as it is made', async () => {
    const found: boolean[] = [];
    // Runs before anything that is read, written or awaited ends.
    const look = () => process.nextTick(() => found.push(existsSync(`${dataDir}/run/fixture.pid`)));
    subscribe('child_process', look);
    const child = await startChild(options('serve'), never).finally(() => unsubscribe('child_process', look));
    await child.stop();
    assert.deepEqual(found, [true]);
  });

  it('reports who ended it', async () => {
    const child = await startChild(options('serve'), never);
    process.kill(Number(await readFile(`${dataDir}/run/fixture.pid`, 'utf8')), 'SIGKILL');
    assert.equal(await child.exited, 'killed by SIGKILL');
  });

  it('stops a process whose data directory was deleted', async () => {
    const child = await startChild(options('serve'), never);
    await rm(dataDir, { recursive: true });
    await child.stop();
    assert.equal(await child.exited, 'exit code 0');
    (await openDataDir(dataDir)).close();
  });

  it('rejects with the last plain line of a process that exits', async () => {
    const message = 'fixture did not start: exit code 1: fixture: PORT: must be a number';
    await assert.rejects(startChild(options('fail'), never), { message });
    await assert.rejects(runChild(options('fail'), never), /fixture failed: exit code 1: fixture: PORT/);
  });

  it('rejects when the process cannot be made', async () => {
    const { execPath } = process;
    process.execPath = `${dataDir}/missing`;
    const starting = startChild(options('serve'), never);
    await assert.rejects(starting, /fixture did not start: spawn .* ENOENT/).finally(() => {
      process.execPath = execPath;
    });
    assert.deepEqual(await readdir(`${dataDir}/run`), ['lock']);
  });

  it('stops a process before it is ready', async () => {
    const unwanted = new AbortController();
    const starting = startChild(options('hang'), unwanted.signal);
    unwanted.abort();
    await assert.rejects(starting, /fixture did not start/);
    assert.deepEqual(await readdir(`${dataDir}/run`), ['lock']);
  });
});
