import assert from 'node:assert/strict';
import { ExportLimit } from '../../../gateway/resource/csv.ts';

describe('ExportLimit', () => {
  const LIVE = new AbortController().signal;

  it('opens many exports, one of an account, and eight of them read at a time, in turns', async () => {
    const exports = new ExportLimit();
    for (let index = 0; index < 128; index++) exports.open(`merchant-${index}`);
    assert.throws(() => exports.open('one-more'), { code: 'RATE_LIMITED' });
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const reads = Array.from({ length: 20 }, (_, index) =>
      exports.inTurn(
        `merchant-${index}`,
        () => {
          begun.push(index);
          return new Promise<void>((resolve) => ends.push(resolve));
        },
        LIVE,
      ),
    );
    await new Promise(setImmediate);
    assert.equal(begun.length, 8);
    for (let done = 0; done < 20; done++) {
      ends[done]?.();
      await reads[done];
      await new Promise(setImmediate);
    }
    assert.deepEqual(
      begun,
      Array.from({ length: 20 }, (_, index) => index),
    );
  });

  it('reads no page for a reader that has gone while it waited', async () => {
    const exports = new ExportLimit();
    const end = Promise.withResolvers<void>();
    const running = Array.from({ length: 8 }, (_, index) => exports.inTurn(`${index}`, () => end.promise, LIVE));
    const gone = new AbortController();
    let begun = 0;
    const waiting = exports.inTurn('gone', async () => void begun++, gone.signal);
    gone.abort(new Error('disconnected'));
    await assert.rejects(waiting, /disconnected/);
    end.resolve();
    await Promise.all(running);
    assert.equal(begun, 0);
  });

  it('frees a place once, so that nobody frees the place of somebody else', () => {
    const exports = new ExportLimit();
    const leave = exports.open('acme');
    leave();
    exports.open('acme');
    leave();
    assert.throws(() => exports.open('acme'), { code: 'RATE_LIMITED' });
  });
});
