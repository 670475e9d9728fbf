import assert from 'node:assert/strict';
import { Gather, type GatherOptions } from '../../proto/gather.ts';

/** A gather whose batches end when the test says so. */
function open(options: Partial<GatherOptions<string>> = {}) {
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
const turn = () => new Promise((resolve) => setImmediate(resolve));
const isAboutOne = (error: unknown) => (error as Error).message === 'bad';

describe('Gather', () => {
  it('sends a lone command at once', () => {
    const { gather, batches } = open();
    void gather.submit('a');
    assert.deepEqual(
      batches.map(({ commands }) => commands),
      [['a']],
    );
  });

  it('sends together what has waited, in its order, as much as fits', async () => {
    const { gather, batches, batch } = open();
    const answers = Promise.all(['a', 'b', 'c', 'd', 'e'].map((each) => gather.submit(each)));
    batch(0).end();
    await turn();
    assert.deepEqual(batch(1).commands, ['b', 'c', 'd']);
    batch(1).end();
    await turn();
    batch(2).end();
    assert.deepEqual(await answers, ['a!', 'b!', 'c!', 'd!', 'e!']);
    assert.equal(batches.length, 3);
  });

  it('uses each lane', () => {
    const { gather, batches } = open({ lanes: 2 });
    for (const each of ['a', 'b', 'c']) void gather.submit(each);
    assert.deepEqual(
      batches.map(({ commands }) => commands),
      [['a'], ['b']],
    );
  });

  it('never sends two commands with one key at the same time, together or in two lanes', async () => {
    const { gather, batch, batches } = open({ lanes: 2, keyOf: (command) => command[0] ?? '' });
    const answers = Promise.all(['a1', 'a2', 'b1', 'b2', 'a3'].map((each) => gather.submit(each)));
    assert.deepEqual(
      batches.map(({ commands }) => commands),
      [['a1'], ['b1']],
    );
    batch(0).end();
    await turn();
    assert.deepEqual(batch(2).commands, ['a2']);
    batch(1).end();
    await turn();
    assert.deepEqual(batch(3).commands, ['b2']);
    batch(2).end();
    await turn();
    assert.deepEqual(batch(4).commands, ['a3']);
    batch(3).end();
    batch(4).end();
    assert.deepEqual(await answers, ['a1!', 'a2!', 'b1!', 'b2!', 'a3!']);
  });

  it('repeats a batch one by one when one command is at fault, so that its neighbours pass', async () => {
    const run = async (commands: readonly string[]) => {
      if (commands.includes('bad')) throw new Error('bad');
      return commands.map((each) => `${each}!`);
    };
    const gather = new Gather(run, { maxBatch: 10, lanes: 1, isAboutOne });
    void gather.submit('first');
    const ends = await Promise.allSettled(['a', 'bad', 'b'].map((each) => gather.submit(each)));
    assert.deepEqual(
      ends.map((end) => (end.status === 'fulfilled' ? end.value : end.reason.message)),
      ['a!', 'bad', 'b!'],
    );
  });

  it('fails all of a batch when none of them is at fault, and goes on with the next', async () => {
    const { gather, batch } = open({ isAboutOne });
    void gather.submit('first');
    const together = Promise.allSettled(['a', 'b'].map((each) => gather.submit(each)));
    batch(0).end();
    await turn();
    batch(1).end(new Error('away'));
    assert.deepEqual(
      (await together).map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    const next = gather.submit('c');
    await turn();
    batch(2).end();
    assert.equal(await next, 'c!');
  });

  it('frees the key of a command that failed', async () => {
    const { gather, batch } = open({ keyOf: () => 'same' });
    const failed = assert.rejects(gather.submit('a'));
    const next = gather.submit('b');
    batch(0).end(new Error('broken'));
    await failed;
    await turn();
    batch(1).end();
    assert.equal(await next, 'b!');
  });
});
