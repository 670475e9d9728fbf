import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { Place } from '../../platform/places.ts';
import { NoTurn, Turns, type TurnsBounds } from '../../platform/turns.ts';
import { collected } from '../collected.ts';

describe('Turns', () => {
  /** Turns whose calls are noted by name when they start, and last until end(). */
  function open(bounds: TurnsBounds) {
    const turns = new Turns(bounds);
    const started: string[] = [];
    const ends = new Map<string, PromiseWithResolvers<string>>();
    const run = (name: string, patience?: { waitMs?: number; signal?: () => AbortSignal }) => {
      const key = name.replace(/\d+$/, '');
      const running = turns.run(
        key,
        () => {
          started.push(name);
          const end = Promise.withResolvers<string>();
          ends.set(name, end);
          return end.promise;
        },
        patience,
      );
      running.catch(() => undefined);
      return running;
    };
    return {
      turns,
      started,
      run,
      async end(name: string, error?: Error) {
        const end = ends.get(name);
        assert(end, `${name} was started`);
        if (error) end.reject(error);
        else end.resolve(name);
        await turn();
      },
    };
  }

  const isNoTurn = (reason: string) => (error: unknown) => error instanceof NoTurn && error.reason === reason;

  it('start at once what a place is free for, all for a key alone', () => {
    const { run, started } = open({ total: 3 });
    for (const name of ['a1', 'a2', 'a3', 'a4']) void run(name);
    assert.deepEqual(started, ['a1', 'a2', 'a3']);
  });

  it('of one key are in the order of arrival, and no other key waits for them', async () => {
    const { turns, run, started, end } = open({ perKey: 1 });
    const running = ['a1', 'a2', 'a3'].map((name) => run(name));
    assert.deepEqual(started, ['a1']);
    assert.equal(await turns.run('b', async () => 'at once'), 'at once');
    await end('a1');
    assert.equal(await running[0], 'a1');
    await end('a2', new Error('a bug'));
    await assert.rejects(running[1] as Promise<string>, /a bug/);
    await end('a3');
    assert.deepEqual(started, ['a1', 'a2', 'a3']);
    assert.equal(await turns.run('a', async () => 'again'), 'again');
  });

  it('go round the keys, however many of one wait', async () => {
    const { run, started, end } = open({ total: 1 });
    for (let index = 0; index < 1_000; index++) void run(`a${index}`);
    for (const name of ['b1', 'b2', 'c1']) void run(name);
    for (let ended = 0; ended < 7; ended++) await end(started[ended] as string);
    assert.deepEqual(started, ['a0', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('starve no key that waits for a place in all while another hands its own on', async () => {
    const { run, started, end } = open({ total: 2, perKey: 1 });
    for (const name of ['a1', 'b1', 'a2', 'a3', 'c1', 'b2']) void run(name);
    assert.deepEqual(started, ['a1', 'b1']);
    await end('a1');
    await end('b1');
    assert.deepEqual(started.slice(2).sort(), ['a2', 'c1']);
    await end('c1');
    assert.deepEqual(started.at(-1), 'b2');
    await end('a2');
    assert.deepEqual(started.at(-1), 'a3');
  });

  it('refuse one more than may wait', async () => {
    const { turns, run, started, end } = open({ total: 1, mostWaiting: 2 });
    for (const name of ['a1', 'a2', 'a3']) void run(name);
    await assert.rejects(run('b1'), isNoTurn('FULL'));
    assert.equal(turns.waiting, 2);
    await end('a1');
    void run('b2');
    for (const name of ['a2', 'a3', 'b2']) await end(name);
    assert.deepEqual(started, ['a1', 'a2', 'a3', 'b2']);
  });

  it('refuse what waits too long, and do not start it later', async () => {
    const { turns, run, started, end } = open({ perKey: 1 });
    void run('a1');
    await assert.rejects(run('a2', { waitMs: 1 }), isNoTurn('LATE'));
    assert.equal(turns.waiting, 0);
    await end('a1');
    assert.deepEqual(started, ['a1']);
    assert.equal(await turns.run('a', async () => 'again'), 'again');
  });

  it('forget one whose call is aborted, wherever it waits', async () => {
    for (const aborted of [2, 3, 4]) {
      const { turns, run, started, end } = open({ total: 1 });
      const abort = new AbortController();
      const reason = new Error('disconnected');
      const running = [1, 2, 3, 4].map((index) =>
        run(`a${index}`, index === aborted ? { signal: () => abort.signal } : undefined),
      );
      abort.abort(reason);
      await assert.rejects(running[aborted - 1] as Promise<string>, reason);
      assert.equal(turns.waiting, 2);
      const others = ['a1', 'a2', 'a3', 'a4'].filter((name) => name !== `a${aborted}`);
      for (const name of others) await end(name);
      assert.deepEqual(started, others);
      void run('b1');
      await assert.rejects(run('b2', { signal: () => abort.signal }), reason);
      assert.equal(turns.waiting, 0);
    }
  });

  it('leak no place when an abort comes with its turn', async () => {
    const { turns, run, end } = open({ total: 1 });
    void run('a1');
    const abort = new AbortController();
    const second = run('a2', { signal: () => abort.signal });
    const ended = end('a1');
    await Promise.resolve();
    abort.abort(new Error('disconnected'));
    await ended;
    await end('a2').catch(() => undefined);
    await second.catch(() => undefined);
    assert(turns.take('b'), 'a place is free');
  });

  it('give the place back when a call throws at once', async () => {
    const { turns } = open({ total: 1 });
    const thrown = () => {
      throw new Error('a bug');
    };
    await assert.rejects(turns.run('a', thrown), /a bug/);
    const first = turns.take('a') as Place;
    const waiting = turns.run('a', thrown);
    first.leave();
    await assert.rejects(waiting, /a bug/);
    assert(turns.take('a'));
  });

  it('refuse all of a key that wait, and leave others alone', async () => {
    const { turns, run, started, end } = open({ perKey: 1 });
    const running = ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) => run(name));
    turns.refuse('a', new Error('away'));
    for (const index of [1, 2]) await assert.rejects(running[index] as Promise<string>, /away/);
    for (const name of ['a1', 'b1', 'b2']) await end(name);
    assert.deepEqual(started, ['a1', 'b1', 'b2']);
    assert.equal(turns.waiting, 0);
  });

  it('cost the same however many wait', () => {
    const forget = (count: number) => {
      const turns = new Turns({ total: 1 });
      const place = turns.take('a') as Place;
      const stops = Array.from({ length: count }, () => turns.wait('a', (next) => void waiting.push(next)));
      const waiting: Place[] = [];
      // From the end, from the middle and from the start.
      for (const stop of stops.splice(count / 4, count / 2).reverse()) stop();
      assert.equal(turns.waiting, count / 2);
      place.leave();
      for (let next = waiting.pop(); next; next = waiting.pop()) next.leave();
      assert.equal(turns.waiting, 0);
    };
    const cpuMs = (count: number) => {
      const before = process.cpuUsage();
      forget(count);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    forget(1_000);
    // A line that is searched takes minutes for these.
    assert(cpuMs(200_000) < 5_000);
  });

  it('keep nothing of those that have left', async () => {
    const turns = new Turns<object>({ total: 1, perKey: 1 });
    const keys = Array.from({ length: 300 }, () => new WeakRef({}));
    const first = turns.take(keys[0]?.deref() as object) as Place;
    const abort = new AbortController();
    const running = keys.map((key, index) =>
      turns
        .run(key.deref() as object, async () => undefined, {
          ...(index % 3 === 1 && { waitMs: 1 }),
          ...(index % 3 === 2 && { signal: () => abort.signal }),
        })
        .catch(() => undefined),
    );
    assert.equal(turns.waiting, 300);
    abort.abort();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(turns.waiting, 100);
    first.leave();
    await Promise.all(running);
    await collected(keys);
    assert.equal(turns.waiting, 0);
  });
});
