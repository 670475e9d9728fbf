/** Answers that are mixed up with those of other calls. */
import type { Lie, TogetherCall } from '../../services/conformance/liar.ts';

const METHODS = [
  'authorize',
  'capture',
  'void',
  'credit',
  'incrementAuthorization',
  'decreaseAuthorization',
  'extendAuthorization',
  'refund',
];

/** Each answer is that of the call before it. */
function swapped(): Lie {
  let before: object | undefined;
  const tell = async (request: object, forward: (request: object) => Promise<object>) => {
    const answer = await forward(request);
    const told = before ?? answer;
    before = answer;
    return told;
  };
  return Object.fromEntries(METHODS.map((method) => [method, tell])) as unknown as Lie;
}

/** Answers of calls that are sent together are exchanged, two by two. */
function mixedUp(): Lie {
  let waiting: { readonly answer: object; readonly give: (answer: object) => void } | undefined;
  const mix = async (request: object, forward: (request: object) => Promise<object>) => {
    const answer = await forward(request);
    const other = waiting;
    waiting = undefined;
    if (other) {
      other.give(answer);
      return other.answer;
    }
    return new Promise<object>((give) => {
      const mine = { answer, give };
      waiting = mine;
      setTimeout(() => {
        if (waiting === mine) waiting = undefined;
        give(answer);
      }, TOGETHER_MS);
    });
  };
  return Object.fromEntries(METHODS.map((method) => [method, mix])) as unknown as Lie;
}

const TOGETHER_MS = 50;

/** Calls of one CallMany, in another order by kind: a capture is answered as another capture. */
function ofTheSameKind<C extends TogetherCall>(calls: readonly C[]): C[] {
  const ofKind = Map.groupBy(calls, ({ method }) => method);
  return calls.map((call) => {
    const all = ofKind.get(call.method) ?? [];
    return all[(all.indexOf(call) + 1) % all.length] as C;
  });
}

export const MIXED_UP: readonly { readonly name: string; readonly lie: Lie; readonly mixesCallMany?: boolean }[] = [
  { name: 'the answers of the calls before', lie: swapped() },
  { name: 'answers of calls made at once, mixed up', lie: mixedUp() },
  {
    name: 'the answers of one CallMany, backwards',
    lie: { mixesCalls: (calls) => calls.toReversed() },
    mixesCallMany: true,
  },
  { name: 'the answers of one CallMany, within each kind', lie: { mixesCalls: ofTheSameKind }, mixesCallMany: true },
  {
    name: 'the first answer of one CallMany for all of a kind',
    lie: { mixesCalls: (calls) => calls.map(({ method }) => calls.find((each) => each.method === method) as never) },
    mixesCallMany: true,
  },
];
