import type { Watched } from '../merchants/watcher.ts';
import type { Fault } from '../play.ts';
import type { TwoCores } from '../stage/two-cores.ts';

/** Cuts the stream of a watcher after a few results; the watcher resumes at the other core. */
export function streamCut(): Fault<TwoCores, Watched> {
  let cuts = 0;
  return {
    name: 'stream cut',
    async strike({ merchants, random }) {
      await merchants.watch(cuts++, 1 + Math.floor(random() * 20));
      return { hit: 1 };
    },
  };
}
