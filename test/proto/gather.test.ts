import assert from 'node:assert/strict';
import { Gather, type GatherOptions } from '../../proto/gather.ts';

/** A gather whose batches end when the test says so. */
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
/** A batch that is sent when another one has ended goes one turn of the event loop later. */
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

  it('sends together what came together or has waited, in its order, as much as fits', async () => {
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

  it('sends a crowd in parts, a third of those who wait at a time, or 32', async () => {
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

  it('repeats a batch one by one when one command is at fault, so that its neighbours pass', async () => {
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

  it('fails all of a batch when none of them is at fault, and goes on with the next', async () => {
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

  it('frees the key of a command that failed', async () => {
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
