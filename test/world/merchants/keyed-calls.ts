import type { Shop } from '../../services/core/shop.ts';
import type { Row } from '../../torture/liar/lies.ts';
import type { Transcript } from '../../torture/liar/transcript.ts';
import type { Merchants } from '../play.ts';
import { type Answered, answered } from './steps.ts';

/** A call with a key that can be repeated. */
export interface KeyedCall {
  readonly label: string;
  readonly first: Promise<Answered>;
  readonly again: () => Promise<Answered>;
}

/** A merchant who is lied to. */
export interface LiedTo extends Merchants {
  /** The last round: what was lied, said, and called before the database went back. */
  round?: { readonly rows: readonly Row[]; readonly transcript: Transcript; readonly calls: readonly KeyedCall[] };
  /** In all rounds. */
  answeredAsFirst: number;
}

/** Where a call has its fields. */
const FIELDS = {
  ...{ place: 0, checkout: 0, oct: 0, release: 1, extend: 1, renew: 1 },
  ...{ capture: 2, increment: 2, releasePart: 2, refund: 2 },
};

/** Gives each call of a shop a key, and records it. */
export function withKeys(shop: Shop, calls: KeyedCall[]): Shop {
  const keyed = Object.entries(FIELDS).map(([method, at]) => {
    const call = shop[method as 'place'] as (...asked: readonly object[]) => ReturnType<Shop['place']>;
    const record = (...asked: object[]) => {
      const label = `${method} key-${calls.length}`;
      asked[at] = { ...asked[at], idempotencyKey: `key-${calls.length}` };
      const answer = call(...asked);
      calls.push({ label, first: answered(answer), again: () => answered(call(...asked)) });
      return answer;
    };
    return [method, record];
  });
  return { ...shop, ...Object.fromEntries(keyed) };
}
