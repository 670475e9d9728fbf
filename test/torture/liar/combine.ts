/** Lies told at once, and lies told about some operations only. */
import type { Lie } from '../../services/conformance/liar.ts';

/** Several lies at once: each changes what the one before it forwards. */
export function together(lies: readonly Lie[]): Lie {
  const all: Record<string, NonNullable<Lie['capture']>> = {};
  for (const [method, told] of lies.flatMap(({ mixesCalls: _, ...lie }) => Object.entries(lie))) {
    const inner = told as NonNullable<Lie['capture']>;
    const outer = all[method];
    all[method] = outer ? (request, forward) => outer(request, (again) => inner(again, forward)) : inner;
  }
  const mixers = lies.flatMap(({ mixesCalls }) => (typeof mixesCalls === 'function' ? [mixesCalls] : []));
  if (mixers.length === 0) return all as Lie;
  return { ...all, mixesCalls: (calls) => mixers.reduce((mixed, mix) => mix(mixed), calls) } as Lie;
}

/**
 * A lie told only about some: the requests and events for which `isAbout` is true. The books and what describes the
 * processor are everybody's.
 */
export function only(lie: Lie, isAbout: (message: object) => boolean): Lie {
  const { mixesCalls, ...told } = lie;
  const limited = Object.entries(told).map(([method, told]) => {
    const tell = told as NonNullable<Lie['capture']>;
    const honest: NonNullable<Lie['capture']> = (request, forward) =>
      EVERYBODYS.has(method) || isAbout(request) ? tell(request, forward) : forward(request);
    return [method, honest];
  });
  const mixed: Lie['mixesCalls'] = (calls) => {
    // Each of them is asked: that is how the merchant's operations become known.
    const areAbout = calls.filter(({ request }) => isAbout(request)).length === calls.length;
    return areAbout && typeof mixesCalls === 'function' ? mixesCalls(calls) : calls;
  };
  return { ...(Object.fromEntries(limited) as Lie), ...(mixesCalls && { mixesCalls: mixed }) };
}

const EVERYBODYS: ReadonlySet<string> = new Set(['listEntries', 'describe']);
