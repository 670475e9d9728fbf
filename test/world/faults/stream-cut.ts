import type { Watched } from '../merchants/result-watcher.ts';
import type { Fault, Stage } from '../play.ts';

/** Cuts streams after a few results; a watcher of several cores resumes at the next one. */
export const streamCut: Fault<Stage, Watched> = {
  name: 'stream cut',
  async strike({ merchants, random }) {
    await Promise.all(merchants.watchers.map((watcher) => watcher.cutAfter(1 + Math.floor(random() * 20))));
    return {};
  },
};
