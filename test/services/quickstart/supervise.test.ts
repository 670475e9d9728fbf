import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { Running } from '../../../services/quickstart/child.ts';
import { supervise } from '../../../services/quickstart/supervise.ts';

/** A child that ends when the test decides. */
class Fake implements Running {
  stopped = false;
  private readonly end = Promise.withResolvers<string>();
  readonly exited = this.end.promise;
  die(reason: string): void {
    this.end.resolve(reason);
  }
  async stop(): Promise<void> {
    this.stopped = true;
    this.die('stopped');
  }
}

describe('supervise()', () => {
  let started: (Fake | Error)[];
  let lines: string[];
  let events: EventEmitter;
  let next: () => Fake;

  const options = {
    name: 'core',
    start: async () => {
      const running = next();
      started.push(running);
      return running;
    },
    report: (line: string) => {
      lines.push(line);
      events.emit('line');
    },
  };

  beforeEach(() => {
    started = [];
    lines = [];
    events = new EventEmitter();
    next = () => new Fake();
  });

  it('rejects when the first start fails', async () => {
    next = () => {
      throw new Error('core did not start: no');
    };
    await assert.rejects(supervise(options, new AbortController().signal), /did not start: no/);
    assert.deepEqual(lines, []);
  });

  it('restarts what ended, and reports it in one line each', async () => {
    const { stop } = await supervise(options, new AbortController().signal);
    (started[0] as Fake).die('killed by SIGKILL');
    while (lines.length < 2) await once(events, 'line');
    assert.deepEqual(lines, ['core ended (killed by SIGKILL); starting it again in 0.25 s', 'core runs again']);
    assert.equal(started.length, 2);
    await stop();
    assert.equal((started[1] as Fake).stopped, true);
  });

  it('waits longer after each failure', async () => {
    const { stop } = await supervise(options, new AbortController().signal);
    next = () => {
      throw new Error('core did not start: no');
    };
    (started[0] as Fake).die('exit code 1');
    while (lines.length < 3) await once(events, 'line');
    assert.deepEqual(lines, [
      'core ended (exit code 1); starting it again in 0.25 s',
      'core did not start: no; starting it again in 0.5 s',
      'core did not start: no; starting it again in 1 s',
    ]);
    await stop();
  });

  it('does not restart what was stopped', async () => {
    const { stop } = await supervise(options, new AbortController().signal);
    await stop();
    assert.equal((started[0] as Fake).stopped, true);
    assert.deepEqual([started.length, lines], [1, []]);
  });
});
