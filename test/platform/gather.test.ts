import assert from 'node:assert/strict';
import {
  AGAIN,
  busyKeys,
  type CallerPatience,
  Gather,
  type GatherOptions,
  NotSent,
  ResultLost,
} from '../../platform/gather.ts';

/** A gather whose batches end when the test decides. */
function open(options: Partial<GatherOptions<string, string>> = {}) {
  const batches: { commands: readonly string[]; end: (error?: unknown) => void }[] = [];
  const gather = new Gather<string, string>(
    (commands) =>
      new Promise((resolve, reject) => {
        const end = (error?: unknown) => (error ? reject(error) : resolve(commands.map((each) => `${each}!`)));
        batches.push({ commands, end });
      }),
    { maxBatch: 3, lanes: 1, ...options },
  );
  const batch = (index: number) => batches[index] ?? assert.fail(`there is no batch ${index}`);
  return { gather, batches, batch };
}
/** A batch that waits for another one is sent one turn of the event loop after it. */
async function turn(): Promise<void> {
  for (let count = 0; count < 2; count++) await new Promise((resolve) => setImmediate(resolve));
}
const isAboutOne = (error: unknown) => (error as Error).message === 'bad';

describe('Gather', () => {
  it('sends a lone command in the same turn of the event loop', async () => {
    const { gather, batches } = open();
    void gather.submit('a');
    await turn();
    assert.deepEqual(
      batches.map(({ commands }) => commands),
      [['a']],
    );
  });

  it('sends concurrent and waiting commands together, in order, as many as fit', async () => {
    const { gather, batches, batch } = open();
    const first = Promise.all(['a', 'b'].map((each) => gather.submit(each)));
    await turn();
    assert.deepEqual(batch(0).commands, ['a', 'b']);
    const second = Promise.all(['c', 'd', 'e', 'f'].map((each) => gather.submit(each)));
    batch(0).end();
    await turn();
    assert.deepEqual(batch(1).commands, ['c', 'd', 'e']);
    batch(1).end();
    await turn();
    batch(2).end();
    assert.deepEqual([await first, await second].flat(), ['a!', 'b!', 'c!', 'd!', 'e!', 'f!']);
    assert.equal(batches.length, 3);
  });

  it('sends many commands in parts: a third of those waiting, or 32', async () => {
    const { gather, batch } = open({ maxBatch: 256, inParts: true });
    for (let count = 0; count < 120; count++) void gather.submit('a');
    for (const [index, size] of [40, 32, 32, 16].entries()) {
      await turn();
      assert.equal(batch(index).commands.length, size);
      batch(index).end();
    }
  });

  it('uses each lane', async () => {
    const { gather, batches } = open({ lanes: 2, maxBatch: 1 });
    for (const each of ['a', 'b', 'c']) void gather.submit(each);
    await turn();
    assert.deepEqual(
      batches.map(({ commands }) => commands),
      [['a'], ['b']],
    );
  });

  it('never sends two commands with one key at the same time, together or in two lanes', async () => {
    const { gather, batch, batches } = open({ lanes: 2, keyOf: (command) => command[0] ?? '' });
    const answers = Promise.all(['a1', 'a2', 'b1', 'b2', 'a3'].map((each) => gather.submit(each)));
    await turn();
    assert.deepEqual(
      batches.map(({ commands }) => commands),
      [['a1', 'b1']],
    );
    void gather.submit('c1');
    await turn();
    assert.deepEqual(batch(1).commands, ['c1']);
    batch(0).end();
    await turn();
    assert.deepEqual(batch(2).commands, ['a2', 'b2']);
    batch(1).end();
    batch(2).end();
    await turn();
    assert.deepEqual(batch(3).commands, ['a3']);
    batch(3).end();
    assert.deepEqual(await answers, ['a1!', 'a2!', 'b1!', 'b2!', 'a3!']);
  });

  it('repeats a batch one by one when one command is at fault, so that the others succeed', async () => {
    const run = async (commands: readonly string[]) => {
      if (commands.includes('bad')) throw new Error('bad');
      return commands.map((each) => `${each}!`);
    };
    const gather = new Gather(run, { maxBatch: 10, lanes: 1, isAboutOne });
    const ends = await Promise.allSettled(['a', 'bad', 'b'].map((each) => gather.submit(each)));
    assert.deepEqual(
      ends.map((end) => (end.status === 'fulfilled' ? end.value : end.reason.message)),
      ['a!', 'bad', 'b!'],
    );
  });

  it('fails the whole batch when no command is at fault, and continues with the next', async () => {
    const { gather, batch } = open({ isAboutOne });
    const together = Promise.allSettled(['a', 'b'].map((each) => gather.submit(each)));
    await turn();
    batch(0).end(new Error('away'));
    assert.deepEqual(
      (await together).map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    const next = gather.submit('c');
    await turn();
    batch(1).end();
    assert.equal(await next, 'c!');
  });

  describe('refuses', () => {
    const reason = (wanted: NotSent['reason']) => (error: unknown) =>
      error instanceof NotSent && error.reason === wanted;
    const patience = (over: Partial<CallerPatience>): CallerPatience => ({
      deadlineMs: Number.POSITIVE_INFINITY,
      isGone: () => false,
      ...over,
    });

    it('more than the limits, in all and per key', async () => {
      const { gather, batch } = open({
        maxBatch: 1,
        maxWaiting: 3,
        maxPerKey: 1,
        keyOf: (command) => command[0] ?? '',
      });
      const first = gather.submit('a1');
      await turn();
      const waiting = [gather.submit('a2'), gather.submit('b'), gather.submit('c')];
      await assert.rejects(gather.submit('a3'), reason('FULL'));
      await assert.rejects(gather.submit('d'), reason('FULL'));
      for (let index = 0; index < 4; index++) {
        batch(index).end();
        await turn();
      }
      assert.deepEqual(await Promise.all([first, ...waiting]), ['a1!', 'a2!', 'b!', 'c!']);
    });

    it('a command that has waited too long, though no lane is free, and never sends it', async () => {
      const { gather, batch, batches } = open({ maxWaitMs: 500 });
      const first = gather.submit('a');
      await turn();
      await assert.rejects(gather.submit('b'), reason('LATE'));
      batch(0).end();
      assert.equal(await first, 'a!');
      await turn();
      assert.equal(batches.length, 1);
    });

    it('a command whose deadline has passed, or whose caller has disconnected', async () => {
      const { gather, batches } = open();
      await assert.rejects(gather.submit('a', patience({ deadlineMs: Date.now() - 1 })), reason('LATE'));
      await assert.rejects(gather.submit('b', patience({ isGone: () => true })), reason('GONE'));
      assert.equal(batches.length, 0);
    });
  });

  describe('retries', () => {
    it('what a batch asks to repeat, while others continue', async () => {
      let locked = true;
      const gather = new Gather<string, string>(
        async (commands) => commands.map((each) => (each === 'locked' && locked ? AGAIN : `${each}!`)),
        { maxBatch: 10, lanes: 1, maxWaitMs: 5_000, keyOf: (each) => each },
      );
      const waiting = gather.submit('locked');
      for (const each of ['a', 'b', 'c']) assert.equal(await gather.submit(each), `${each}!`);
      locked = false;
      assert.equal(await waiting, 'locked!');
    });

    it('what never gets its turn, until its deadline: then it was not sent', async () => {
      const gather = new Gather<string, string>(async (commands) => commands.map(() => AGAIN), {
        maxBatch: 10,
        lanes: 1,
        maxWaitMs: 30,
      });
      await assert.rejects(gather.submit('a'), NotSent);
    });

    it('a batch whose result was lost, and reports what the repetition means', async () => {
      let runs = 0;
      const gather = new Gather<string, string>(
        async (commands) => {
          if (++runs === 1) throw new Error('lost');
          return commands.map(() => 'there already');
        },
        {
          maxBatch: 10,
          lanes: 1,
          maxWaitMs: 5_000,
          isLost: (error) => (error as Error).message === 'lost',
          afterLoss: (answer) => `done before: ${answer}`,
        },
      );
      assert.deepEqual(await Promise.all([gather.submit('a'), gather.submit('b')]), [
        'done before: there already',
        'done before: there already',
      ]);
    });

    it('a batch whose result stays lost, until its deadline: then the outcome is unknown', async () => {
      let runs = 0;
      const gather = new Gather<string, string>(
        async () => {
          // Once its result is lost, no later failure proves that it was not done.
          throw new Error(++runs === 1 ? 'lost' : 'refused');
        },
        { maxBatch: 10, lanes: 1, maxWaitMs: 1_000, isLost: (error) => (error as Error).message === 'lost' },
      );
      await assert.rejects(gather.submit('a'), ResultLost);
      assert(runs > 1);
    });
  });

  it('separates commands of one key in two gathers that share their keys', async () => {
    const keys = busyKeys();
    const one = open({ keys, keyOf: (command) => command });
    const other = open({ keys, keyOf: (command) => command });
    const first = one.gather.submit('a');
    await turn();
    const second = other.gather.submit('a');
    await turn();
    assert.equal(other.batches.length, 0);
    one.batch(0).end();
    await turn();
    other.batch(0).end();
    assert.deepEqual(await Promise.all([first, second]), ['a!', 'a!']);
  });

  it('releases the key of a command that failed', async () => {
    const { gather, batch } = open({ keyOf: () => 'same' });
    const failed = assert.rejects(gather.submit('a'));
    const next = gather.submit('b');
    await turn();
    batch(0).end(new Error('broken'));
    await failed;
    await turn();
    batch(1).end();
    assert.equal(await next, 'b!');
  });
});
