import type { IncomingMessage, RequestListener } from 'node:http';
import type { Place } from '../../platform/places.ts';
import { Turns } from '../../platform/turns.ts';

/**
 * Calls `listener` for at most PER_TURN requests in each turn of the event loop. The others wait, and callers take
 * turns; requests of one caller keep their order. A caller that sends thousands at once would otherwise make everyone
 * wait until all of them are refused. A request whose connection ends while it waits is forgotten, and a connection has
 * one at a time (`oneAtATime()`), so no more wait than there are connections.
 */
export function inTurns(listener: RequestListener, callerOf: (request: IncomingMessage) => string): RequestListener {
  const turns = new Turns({ total: PER_TURN });
  let begun: Place[] = [];

  function start(place: Place, request: Parameters<RequestListener>): void {
    if (begun.length === 0) setImmediate(beginTurn);
    begun.push(place);
    listener(...request);
  }
  function beginTurn(): void {
    const before = begun;
    begun = [];
    try {
      for (let place = before.pop(); place; place = before.pop()) place.leave();
    } finally {
      // A listener has thrown, and the next turn is set: the rest is given back then.
      begun.push(...before);
    }
  }

  return (...request) => {
    // To find the caller costs a hash, and matters only to a request that waits.
    const place = turns.take('');
    if (place) return start(place, request);
    const forget = turns.wait(callerOf(request[0]), (next) => start(next, request));
    request[1].once('close', forget);
  };
}

/**
 * A refusal takes a third of a millisecond. What is written in a turn leaves at its end: with 16, core works on the
 * first requests while the next ones are read (measured: 1.12 times as many notifications a second as with 50).
 */
const PER_TURN = 16;
