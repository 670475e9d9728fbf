import assert from 'node:assert/strict';
import { openLog } from '../../../../platform/log.ts';
import { type Work, workLoop } from '../../../../services/core/recovery/work-loop.ts';

interface Item {
  readonly key: string;
  readonly merchantId: string;
}

describe('workLoop()', () => {
  const log = openLog('test', 'silent');

  /** Runs a loop over what is due, whose handling ends when the test says so. */
  function run(due: Item[], over: Partial<Work<Item>> = {}) {
    const [handled, ends] = [new Set<string>(), new Map<string, () => void>()];
    let heard = () => {};
    const work: Work<Item> = {
      name: 'test',
      intervalMs: 1,
      slots: 8,
      keyOf: ({ key }) => key,
      merchantOf: ({ merchantId }) => merchantId,
      find: async ({ limit, but }) => due.filter(({ key }) => !but.includes(key)).slice(0, limit),
      take: async (found) => found,
      handle({ key }) {
        handled.add(key);
        due.splice(
          due.findIndex((item) => item.key === key),
          1,
        );
        heard();
        return new Promise<void>((resolve) => ends.set(key, resolve));
      },
      ...over,
    };
    const loop = workLoop(work, log, () => new Date());
    return {
      handled,
      ends,
      async until(isTrue: () => boolean) {
        while (!isTrue()) await new Promise<void>((resolve) => (heard = resolve));
      },
      async close() {
        due.length = 0;
        for (const end of ends.values()) end();
        await loop.close();
      },
    };
  }

  const itemsOf = (merchantId: string, count: number): Item[] =>
    Array.from({ length: count }, (_, index) => ({ key: `${merchantId}${index}`, merchantId }));

  it('leaves room for others while all of one merchant, of whom much is due, gets no answer', async () => {
    const due = itemsOf('flood', 100);
    const loop = run(due);
    await loop.until(() => loop.handled.size === 4);
    due.unshift(...itemsOf('quiet', 2));
    await loop.until(() => loop.handled.has('quiet1'));
    assert.deepEqual([...loop.handled], ['flood0', 'flood1', 'flood2', 'flood3', 'quiet0', 'quiet1']);
    await loop.close();
  });

  it('searches again before its interval is over when more is due and slots are free', async () => {
    const loop = run(itemsOf('flood', 6), { intervalMs: 3_600_000 });
    await loop.until(() => loop.handled.size === 4);
    for (const key of ['flood0', 'flood1']) loop.ends.get(key)?.();
    await loop.until(() => loop.handled.size === 6);
    await loop.close();
  });

  it('passes what cannot be done yet, of which there is more than it has slots', async () => {
    const handled = new Set<string>();
    const due = itemsOf('limited', 20);
    const loop = run(due, {
      async handle({ key }) {
        handled.add(key);
        return 'LATER';
      },
    });
    while (handled.size < due.length) await new Promise((resolve) => setTimeout(resolve, 1));
    await loop.close();
  });

  it('gives back the slots of what another worker took', async () => {
    let searches = 0;
    const loop = run(itemsOf('shop', 4), {
      take: async (found) => (searches++ === 0 ? [] : found),
    });
    await loop.until(() => loop.handled.size === 4);
    await loop.close();
  });
});
