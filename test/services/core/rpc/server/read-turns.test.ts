import assert from 'node:assert/strict';
import { HoldfastError } from '../../../../../services/core/domain/refusal.ts';
import { openReadTurns } from '../../../../../services/core/rpc/server/read-turns.ts';

/** A read that ends when it is told to. */
function read() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let started = false;
  const run = () => {
    started = true;
    return promise;
  };
  return { run, end: () => resolve('read'), fail: reject, isStarted: () => started };
}

/** Lets what is ready run. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('openReadTurns()', () => {
  it('lets an account read one thing at a time, in the order of arrival, and others besides', async () => {
    const turns = openReadTurns();
    const reads = [read(), read(), read()];
    const running = reads.map(({ run }) => turns.run('flood', run));
    const started = () => reads.map(({ isStarted }) => isStarted());
    await turn();
    assert.deepEqual(started(), [true, false, false]);
    assert.equal(await turns.run('quiet', async () => 'at once'), 'at once');
    reads[0]?.end();
    assert.equal(await running[0], 'read');
    await turn();
    assert.deepEqual(started(), [true, true, false]);
    reads[1]?.fail(new Error('a bug'));
    await assert.rejects(running[1] as Promise<string>, /a bug/);
    await turn();
    assert.deepEqual(started(), [true, true, true]);
    reads[2]?.end();
    assert.equal(await running[2], 'read');
    assert.equal(await turns.run('flood', async () => 'again'), 'again');
  });

  it('lets as many read at a time as an account may', async () => {
    const turns = openReadTurns({ atOnce: 2 });
    const reads = [read(), read(), read()];
    const running = reads.map(({ run }) => turns.run('wide', run));
    const started = () => reads.map(({ isStarted }) => isStarted());
    await turn();
    assert.deepEqual(started(), [true, true, false]);
    reads[1]?.end();
    await running[1];
    await turn();
    assert.deepEqual(started(), [true, true, true]);
    for (const each of reads) each.end();
    await Promise.all(running);
    assert.equal(await turns.run('wide', async () => 'again'), 'again');
  });

  it('refuses what waits too long, and does not run it later', async () => {
    const turns = openReadTurns({ waitMs: 1 });
    const [first, second] = [read(), read()];
    const running = turns.run('flood', first.run);
    await assert.rejects(turns.run('flood', second.run), (error) => {
      assert(error instanceof HoldfastError);
      assert.deepEqual([error.code, error.details.retryAfterS], ['RATE_LIMITED', 1]);
      return true;
    });
    first.end();
    await running;
    await turn();
    assert.equal(second.isStarted(), false);
    assert.equal(await turns.run('flood', async () => 'again'), 'again');
  });

  it('does not run a read whose caller has gone while it waited', async () => {
    const turns = openReadTurns();
    const [first, second] = [read(), read()];
    const running = turns.run('flood', first.run);
    const gone = new AbortController();
    const waiting = turns.run('flood', second.run, () => gone.signal);
    gone.abort(new Error('disconnected'));
    await assert.rejects(waiting, /disconnected/);
    first.end();
    await running;
    await turn();
    assert.equal(second.isStarted(), false);
  });

  it('answers all that wait when the database is away', async () => {
    const turns = openReadTurns();
    const [first, second, third] = [read(), read(), read()];
    const running = [first, second, third].map(({ run }) => turns.run('shop', run));
    first.fail(new Error('Query read timeout'));
    for (const each of running) await assert.rejects(each, /Query read timeout/);
    assert.deepEqual([second.isStarted(), third.isStarted()], [false, false]);
    assert.equal(await turns.run('shop', async () => 'again'), 'again');
  });
});
