import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { inTurns } from '../../../gateway/http/in-turns.ts';

describe('inTurns()', () => {
  let started: string[];
  let arrive: (caller: string, count: number) => EventEmitter[];
  beforeEach(() => {
    // The floods of earlier tests go on into theirs.
    const own: string[] = [];
    started = own;
    const sent = new Map<string, number>();
    const listener = inTurns(
      ({ headers, url }) => void own.push(`${headers.from} ${url}`),
      ({ headers }) => String(headers.from),
    );
    arrive = (caller, count) =>
      Array.from({ length: count }, () => {
        const number = (sent.get(caller) ?? 0) + 1;
        sent.set(caller, number);
        const response = new EventEmitter();
        const request = { headers: { from: caller }, url: String(number) };
        listener(request as unknown as IncomingMessage, response as unknown as ServerResponse);
        return response;
      });
  });

  it('starts few at once without any delay', () => {
    arrive('a', 10);
    assert.equal(started.length, 10);
  });

  it('starts a request of another caller in the next turn, however many wait', async () => {
    arrive('flood', 3_000);
    arrive('b', 1);
    arrive('c', 1);
    assert.equal(started.length, 16);
    await turn();
    assert.equal(started.length, 32);
    assert.deepEqual(started.slice(16, 20), ['flood 17', 'b 1', 'c 1', 'flood 18']);
  });

  it('starts all of them, those of one caller in their order', async () => {
    arrive('a', 500);
    arrive('b', 500);
    await turn();
    arrive('a', 1);
    while (started.length < 1_001) await turn();
    await turn();
    assert.equal(started.length, 1_001);
    const ofA = started.filter((each) => each.startsWith('a '));
    assert.deepEqual(
      ofA,
      Array.from({ length: 501 }, (_, index) => `a ${index + 1}`),
    );
  });

  it('forgets those whose connections end while they wait', async () => {
    for (const response of arrive('flood', 3_000)) response.emit('close');
    arrive('b', 1);
    await turn();
    assert.deepEqual(started.slice(16), ['b 1']);
    for (let turns = 0; turns < 20; turns++) await turn();
    assert.equal(started.length, 17);
  });

  it('goes on after a listener has thrown', async () => {
    const own: number[] = [];
    const thrown: unknown[] = [];
    const listener = inTurns(
      ({ url }) => {
        own.push(Number(url));
        if (url === '20') throw new Error('a bug');
      },
      () => 'a',
    );
    const before = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => void thrown.push(error));
    try {
      for (let index = 0; index < 100; index++)
        listener({ url: String(index) } as IncomingMessage, new EventEmitter() as unknown as ServerResponse);
      for (let turns = 0; turns < 12; turns++) await turn();
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const each of before) process.on('uncaughtException', each);
    }
    assert.deepEqual([thrown.length, own.length], [1, 100]);
  });

  it('starts at once again after a flood', async () => {
    arrive('a', 120);
    for (let turns = 0; turns < 9; turns++) await turn();
    arrive('b', 1);
    assert.equal(started.at(-1), 'b 1');
  });
});
